// heed/attention.h: attention as functions, over src/nn and src/ops.
#include <algorithm>
#include <cmath>

#include "api/attention_masks.h"
#include "api/contiguous.h"
#include "base/check.h"
#include "heed/attention.h"
#include "nn/self_attention.h"

namespace heed {
namespace {

void require_scale(const char* name, double scale) {
  if (!std::isfinite(scale)) {
    fail(ErrorKind::kUsage, "{}: the scale must be a finite number, not {}", name, scale);
  }
}

}  // namespace

Tensor padding_mask(const std::vector<int64_t>& lengths, int64_t longest) {
  if (longest < 0) fail(ErrorKind::kShape, "padding_mask: there is no length of {}", longest);
  Tensor mask = Tensor::zeros({static_cast<int64_t>(lengths.size()), longest}, DType::kUInt8);
  for (size_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] < 0 || lengths[b] > longest) {
      fail(ErrorKind::kShape, "padding_mask: sentence {} of {} tokens does not fit a length of {}", b,
           lengths[b], longest);
    }
    std::fill_n(mask.data<uint8_t>() + static_cast<int64_t>(b) * longest, lengths[b], uint8_t{1});
  }
  return mask;
}

Tensor look_ahead_mask(int64_t length) {
  if (length < 0) fail(ErrorKind::kShape, "look_ahead_mask: there is no length of {}", length);
  Tensor mask = Tensor::zeros({length, length}, DType::kUInt8);
  for (int64_t q = 0; q < length; ++q) std::fill_n(mask.data<uint8_t>() + q * length, q + 1, uint8_t{1});
  return mask;
}

AttentionResult scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                             const AttentionOptions& options, double scale) {
  require_scale("scaled_dot_product_attention", scale);
  const auto [output, weights] = nn::scaled_dot_product_attention(
      contiguous(query), contiguous(key), contiguous(value), mask_of(options, query.rank()), scale);
  return {output.value(), options.weights ? weights.value() : Tensor()};
}

Tensor attention_scores(const Tensor& query, const Tensor& key, double scale) {
  require_scale("attention_scores", scale);
  const bool fit = query.rank() >= 2 && query.rank() == key.rank() && query.dim(-1) == key.dim(-1) &&
                   std::equal(query.shape().begin(), query.shape().end() - 2, key.shape().begin());
  if (!fit) {
    fail(ErrorKind::kShape,
         "attention_scores: query (..., Tq, d_k) and key (..., Tk, d_k) are needed, not {} and {}",
         query.shape().to_string(), key.shape().to_string());
  }
  const Tensor q = contiguous(query), k = contiguous(key);
  Shape shape = query.shape();
  shape.set(-1, key.dim(-2));
  int64_t matrices = 1;
  for (int axis = 0; axis + 2 < query.rank(); ++axis) matrices *= query.dim(axis);
  const auto layout = ops::AttentionLayout::padded(matrices, query.dim(-2), key.dim(-2));
  const ops::AttentionOperands operands{{q, 0, q.dim(-1)}, {k, 0, k.dim(-1)}, {k, 0, k.dim(-1)}, 1, scale};
  return ops::attention_scores(operands, layout).value().reshape(shape);
}

AttentionResult plain_self_attention(const Tensor& x) {
  const auto [output, weights] = nn::plain_self_attention(contiguous(x));
  return {output.value(), weights.value()};
}

namespace {

/// (A, B, C, w) -> (A, C, B, w)
Tensor swap_middle(const Tensor& x) {
  const int64_t outer = x.dim(0), rows = x.dim(1), columns = x.dim(2);
  Tensor y = Tensor::empty({outer, columns, rows, x.dim(3)}, x.dtype());
  const auto width = static_cast<int64_t>(static_cast<size_t>(x.dim(3)) * size_of(x.dtype()));
  const char* from = static_cast<const char*>(x.bytes());
  char* to = static_cast<char*>(y.bytes());
  for (int64_t a = 0; a < outer; ++a) {
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t b = 0; b < rows; ++b, to += width) {
        std::copy_n(from + ((a * rows + b) * columns + c) * width, width, to);
      }
    }
  }
  return y;
}

}  // namespace

Tensor split_heads(const Tensor& x, int heads) {
  if (x.rank() != 3 || heads < 1 || x.dim(2) % heads != 0) {
    fail(ErrorKind::kShape, "split_heads: x must be (B, T, D), D divisible by the {} heads, not {}", heads,
         x.shape().to_string());
  }
  const Tensor rows = contiguous(x).reshape({x.dim(0), x.dim(1), heads, x.dim(2) / heads});  // (B, T, H, d_k)
  return swap_middle(rows);                                                                  // (B, H, T, d_k)
}

Tensor merge_heads(const Tensor& x) {
  if (x.rank() != 4)
    fail(ErrorKind::kShape, "merge_heads: x must be (B, H, T, d_k), not {}", x.shape().to_string());
  return swap_middle(contiguous(x)).reshape({x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});  // (B, T, D)
}

}  // namespace heed
