#include "nn/differentiable_weights.h"

#include <algorithm>

#include "base/check.h"

namespace heed::nn {

namespace {

/// (rows, columns) -> (columns, rows), in blocks that stay in the cache.
Tensor transposed(const Tensor& matrix) {
  constexpr int64_t kBlock = 32;
  const int64_t rows = matrix.dim(0), columns = matrix.dim(1);
  Tensor result = Tensor::empty({columns, rows});
  const float* from = matrix.data<float>();
  float* to = result.data<float>();
  for (int64_t row = 0; row < rows; row += kBlock) {
    for (int64_t column = 0; column < columns; column += kBlock) {
      for (int64_t r = row; r < std::min(row + kBlock, rows); ++r) {
        for (int64_t c = column; c < std::min(column + kBlock, columns); ++c) {
          to[c * rows + r] = from[r * columns + c];
        }
      }
    }
  }
  return result;
}

}  // namespace

DifferentiableWeights::DifferentiableWeights(const ParameterTable& table, const ParameterArray& values,
                                             const CompactParameters* compact, const PackedWeights* packed)
    : table_(table),
      values_(values),
      compact_(compact),
      packed_(packed),
      products_(static_cast<size_t>(table.products())) {}

const DifferentiableWeights::Product& DifferentiableWeights::operator[](const ProductRef& product) const {
  HEED_CHECK(product.defined());
  return products_.get(static_cast<size_t>(product.index), [&] { return pack(product); });
}

DifferentiableWeights::Product DifferentiableWeights::pack(const ProductRef& product) const {
  const auto& [weight, bias, index] = product;
  const Shape shape = table_.shape(weight);
  const int64_t out = shape[0], in = shape[1];
  const bool is_compact = compact_ != nullptr && compact_->holds(weight);
  Tensor w = is_compact ? Tensor::empty({out, in}) : values_.view(table_, weight);
  if (is_compact) compact_->widen(weight, 0, out, w.data<float>());
  const Tensor b = bias.defined() ? values_.view(table_, bias) : Tensor();
  return {packed_ != nullptr
              ? (*packed_)[product]
              : PackedMatrix(w.data<float>(), out, in, b.defined() ? b.data<float>() : nullptr),
          PackedMatrix(transposed(w).data<float>(), in, out, nullptr)};
}

}  // namespace heed::nn
