#include "nn/context.h"

#include <mutex>

namespace heed::nn {

namespace {

std::unique_ptr<PackedMatrix> pack(const Context& context, ParamRef weight, ParamRef bias) {
  const ParameterTable& table = *context.table;
  const Tensor b = bias.defined() ? context.values->view(table, bias) : Tensor();
  const float* row = b.defined() ? b.data<float>() : nullptr;
  if (context.quantized != nullptr && context.quantized->holds(weight)) {
    const auto [values, scales, out, in] = context.quantized->matrix(weight);
    return std::make_unique<PackedMatrix>(values, scales, out, in, row);
  }
  const Tensor w = context.values->view(table, weight);
  return std::make_unique<PackedMatrix>(w.data<float>(), w.dim(0), w.dim(1), row);
}

}  // namespace

const PackedMatrix& PackedWeights::get(const Context& context, ParamRef weight, ParamRef bias) {
  const std::pair<int, int> key{weight.first, weight.count};
  {
    const std::shared_lock lock(mutex_);
    const auto found = matrices_.find(key);
    if (found != matrices_.end()) return *found->second;
  }
  const std::unique_lock lock(mutex_);
  auto& matrix = matrices_[key];
  if (matrix == nullptr) matrix = pack(context, weight, bias);
  return *matrix;
}

Var Context::parameter(ParamRef ref) const {
  if (quantized != nullptr) quantized->fill(ref, *values);
  const Tensor value = values->view(*table, ref);
  if (tape == nullptr || !(*table)[ref.first].trained) return value;
  return tape->leaf(value, gradients->view(*table, ref));
}

const PackedMatrix* Context::packed_matrix(ParamRef weight, ParamRef bias) const {
  if (packed == nullptr || tape != nullptr || values->flat().dtype() != DType::kFloat32) return nullptr;
  return &packed->get(*this, weight, bias);
}

void Context::collect(ParamRef statistic, const Tensor& value) const {
  if (!training || gradients == nullptr) return;
  Tensor sum = gradients->view(*table, statistic);
  for (int64_t i = 0; i < sum.size(); ++i) {
    if (sum.dtype() == DType::kFloat32) {
      sum.data<float>()[i] += static_cast<float>(share) * value.data<float>()[i];
    } else {
      sum.data<double>()[i] += share * value.data<double>()[i];
    }
  }
}

DropoutStream Context::next_dropout(double probability) {
  if (!training || probability <= 0) return {};
  return DropoutStream(random.fold(dropouts_++), probability);
}

}  // namespace heed::nn
