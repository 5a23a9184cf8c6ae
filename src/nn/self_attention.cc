#include "nn/self_attention.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "ops/reshape.h"

namespace heed::nn {
namespace {

/// The leading axes: all but the last two.
std::vector<int64_t> leading(const Tensor& tensor) {
  return {tensor.shape().begin(), tensor.shape().end() - 2};
}

Shape with_matrix(std::vector<int64_t> axes, int64_t rows, int64_t columns) {
  axes.insert(axes.end(), {rows, columns});
  return Shape(axes);
}

/// How many matrices (Tq, Tk) the weights are.
int64_t matrices_of(const Shape& full) {
  return std::accumulate(full.begin(), full.end() - 2, int64_t{1}, std::multiplies());
}

void require_shapes(const Tensor& query, const Tensor& key, const Tensor& value) {
  const bool fit = query.rank() >= 2 && key.rank() == query.rank() && value.rank() == query.rank() &&
                   leading(key) == leading(query) && leading(value) == leading(query) &&
                   key.dim(-1) == query.dim(-1) && value.dim(-2) == key.dim(-2);
  if (!fit) {
    fail(ErrorKind::kShape,
         "attention: query (..., Tq, d_k), key (..., Tk, d_k) and value (..., Tk, d_v) are needed, not {}, "
         "{} and {}",
         query.shape().to_string(), key.shape().to_string(), value.shape().to_string());
  }
}

template <typename T>
Tensor repeated(const Tensor& mask, const Shape& full) {
  Tensor all = Tensor::empty(full, mask.dtype());
  const int64_t matrix = full[-2] * full[-1];
  const T* from = mask.data<T>();
  T* to = all.data<T>();
  for (int64_t n = 0; n < full.size(); n += matrix) {
    // From the index n of a matrix to its offset in the mask, whose axes of length 1 are broadcast.
    int64_t rest = matrix > 0 ? n / matrix : 0, at = 0, step = matrix;
    for (int axis = full.rank() - 3; axis >= 0; --axis) {
      if (mask.dim(axis) > 1) at += rest % full[axis] * step;
      step *= mask.dim(axis);
      rest /= full[axis];
    }
    std::copy_n(from + at, matrix, to + n);
  }
  return all;
}

/// A mask for the weights `full` (..., Tq, Tk), as (matrices, 1, Tq, Tk), or (Tq, Tk) where it is the same
/// for all.
template <typename T>
Tensor spread(const char* what, const Tensor& mask, const Shape& full) {
  const Shape matrix{full[-2], full[-1]};
  if (mask.shape() == matrix) return mask;
  bool fits = mask.rank() == full.rank() && mask.is_contiguous() && mask.dim(-2) == matrix[0] &&
              mask.dim(-1) == matrix[1];
  for (int axis = 0; fits && axis + 2 < full.rank(); ++axis)
    fits = mask.dim(axis) == full[axis] || mask.dim(axis) == 1;
  if (!fits) {
    fail(ErrorKind::kShape,
         "attention: a {} of {} does not fit weights of {}; it may be {}, or as many axes as these", what,
         mask.shape().to_string(), full.to_string(), matrix.to_string());
  }
  return repeated<T>(mask, full).reshape({matrices_of(full), 1, matrix[0], matrix[1]});
}

/// (B, Tk) -> one row for each matrix; the matrices of a sequence are adjacent.
Tensor spread_keys(const Tensor& visible, const Shape& full) {
  const int64_t keys = full[-1], batch = full.rank() > 2 ? full[0] : 1;
  if (visible.size() != batch * keys || visible.dim(-1) != keys) {
    fail(ErrorKind::kShape, "attention: a padding mask of {} does not fit weights of {}; it must be ({}, {})",
         visible.shape().to_string(), full.to_string(), batch, keys);
  }
  const int64_t copies = batch > 0 ? matrices_of(full) / batch : 0;  // heads, mostly
  Tensor all = Tensor::empty({batch, copies, keys}, DType::kUInt8);
  const Tensor rows = visible.is_contiguous() ? visible : visible.clone();
  for (int64_t n = 0; n < batch * copies; ++n) {
    std::copy_n(rows.data<uint8_t>() + n / copies * keys, keys, all.data<uint8_t>() + n * keys);
  }
  return all;
}

}  // namespace

AttentionOutput scaled_dot_product_attention(const Var& query, const Var& key, const Var& value,
                                             const ops::AttentionMask& mask, double scale) {
  require_shapes(query.value(), key.value(), value.value());
  const std::vector<int64_t> axes = leading(query.value());
  const int64_t queries = query.dim(-2), keys = key.dim(-2), value_width = value.dim(-1);
  const Shape full = with_matrix(axes, queries, keys);
  const int64_t matrices = matrices_of(full);

  ops::AttentionMask each = mask;
  if (mask.key_visible.defined()) each.key_visible = spread_keys(mask.key_visible, full);
  if (mask.visible.defined()) each.visible = spread<uint8_t>("mask", mask.visible, full);
  if (mask.bias.defined() && mask.bias.shape() == full && full.rank() > 2) {
    each.bias = ops::reshape(mask.bias, {matrices, 1, queries, keys});
  } else if (mask.bias.defined() && !(mask.bias.shape() == Shape{queries, keys})) {
    if (mask.bias.wants_gradient()) {
      fail(ErrorKind::kShape,
           "attention: a bias of {} that wants a gradient must be as large as the weights, {}",
           mask.bias.shape().to_string(), full.to_string());
    }
    each.bias = mask.bias.dtype() == DType::kFloat32 ? spread<float>("bias", mask.bias.value(), full)
                                                     : spread<double>("bias", mask.bias.value(), full);
  }

  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(query.dim(-1)));
  const auto layout = ops::AttentionLayout::padded(matrices, queries, keys);
  const ops::AttentionOperands operands{
      {query, 0, query.dim(-1)}, {key, 0, key.dim(-1)}, {value, 0, value_width}, 1, scale};
  const Var scores = ops::attention_scores(operands, layout);           // matrices times (Tq, Tk)
  const Var weights = ops::attention_softmax(scores, layout, 1, each);  // matrices times (Tq, Tk)
  const Var mixed = ops::attention_mix(weights, operands, layout);      // (matrices Tq, d_v)
  return {ops::reshape(mixed, with_matrix(axes, queries, value_width)), ops::reshape(weights, full)};
}

AttentionOutput plain_self_attention(const Var& x) {
  return scaled_dot_product_attention(x, x, x, {}, 1);
}

}  // namespace heed::nn
