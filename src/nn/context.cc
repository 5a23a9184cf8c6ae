#include "nn/context.h"

#include <algorithm>

#include "base/check.h"

namespace heed::nn {

Var Context::parameter(ParamRef ref) const {
  if (compact != nullptr && compact->holds(ref)) return compact->floats(ref);
  const Tensor value = values->view(*table, ref);
  if (tape == nullptr || !(*table)[ref.first].trained) return value;
  return tape->leaf(value, gradients->view(*table, ref));
}

const PackedMatrix* Context::packed_matrix(const ProductRef& product) const {
  if (packed == nullptr || tape != nullptr || values->flat().dtype() != DType::kFloat32) return nullptr;
  return &(*packed)[product];
}

DropoutStream Context::next_dropout(double probability) {
  if (!training || probability <= 0) return {};
  return DropoutStream(random.fold(dropouts_++), probability);
}

PackedWeights::PackedWeights(const ParameterTable& table, const ParameterArray& values,
                             const CompactParameters* compact, MatmulPrecision precision)
    : table_(table),
      values_(values),
      compact_(compact),
      precision_(precision),
      matrices_(static_cast<size_t>(table.products())) {}

Context PackedWeights::context() const {
  Context context;
  context.table = &table_;
  context.values = &values_;
  context.compact = compact_;
  context.packed = this;
  return context;
}

const PackedMatrix& PackedWeights::operator[](const ProductRef& product) const {
  HEED_CHECK(product.defined());
  return matrices_.get(static_cast<size_t>(product.index), [&] { return pack(product); });
}

PackedMatrix PackedWeights::pack(const ProductRef& product) const {
  const auto& [weight, bias, index] = product;
  const Tensor b = bias.defined() ? values_.view(table_, bias) : Tensor();
  const float* row = b.defined() ? b.data<float>() : nullptr;
  if (precision_ == MatmulPrecision::kMedium) {
    return pack_in_bfloat16(weight, row);
  }
  if (compact_ != nullptr && compact_->holds(weight)) {
    return compact_->pack(weight, row);
  }
  const Tensor w = values_.view(table_, weight);
  return {w.data<float>(), w.dim(0), w.dim(1), row};
}

PackedMatrix PackedWeights::pack_in_bfloat16(ParamRef weight, const float* bias) const {
  const Shape shape = table_.shape(weight);
  const bool is_compact = compact_ != nullptr && compact_->holds(weight);
  const Tensor w = is_compact ? Tensor() : values_.view(table_, weight);
  const auto read = [&](int64_t begin, int64_t count, float* out) {
    if (is_compact) {
      compact_->widen(weight, begin, count, out);
    } else {
      std::copy_n(w.data<float>() + begin * shape[1], count * shape[1], out);
    }
  };
  return PackedMatrix::in_bfloat16({shape[0], shape[1], read}, bias);
}

}  // namespace heed::nn
