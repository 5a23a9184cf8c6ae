// heed/attention.h: self-attention as functions of explicit matrices.
#include <algorithm>
#include <cmath>

#include "api/contiguous.h"
#include "base/check.h"
#include "heed/attention.h"
#include "ops/columns.h"
#include "ops/dispatch.h"
#include "ops/linear.h"

namespace heed {
namespace {

template <typename T>
void attend_in_loops(const Tensor& x, Tensor& weights, Tensor& output) {
  const int64_t length = x.dim(0), width = x.dim(1);
  const auto word = [&](int64_t i) { return x.data<T>() + i * width; };
  for (int64_t i = 0; i < length; ++i) {
    T* a = weights.data<T>() + i * length;
    T* z = output.data<T>() + i * width;
    for (int64_t j = 0; j < length; ++j) {  // w_ij = x_i . x_j
      a[j] = 0;
      for (int64_t c = 0; c < width; ++c) a[j] += word(i)[c] * word(j)[c];
    }
    const T largest = *std::max_element(a, a + length);  // e^(w - m) / sum e^(w - m) is the same, and finite
    T sum = 0;
    for (int64_t j = 0; j < length; ++j) {
      a[j] = std::exp(a[j] - largest);
      sum += a[j];
    }
    std::fill_n(z, width, T{0});
    for (int64_t j = 0; j < length; ++j) {
      a[j] /= sum;
      for (int64_t c = 0; c < width; ++c) z[c] += a[j] * word(j)[c];  // z_i = sum of a_ij x_j
    }
  }
}

/// U x for every x of (..., D): (..., rows of U).
Tensor projected(const char* what, const Tensor& x, const Tensor& u) {
  if (u.rank() != 2 || x.rank() < 1 || u.dim(1) != x.dim(-1)) {
    fail(ErrorKind::kShape, "self_attention: {} must be (any width, {}) to multiply x {}, not {}", what,
         x.rank() < 1 ? 0 : x.dim(-1), x.shape().to_string(), u.shape().to_string());
  }
  return ops::linear(x, contiguous(u)).value();
}

/// The part of a mask or bias (T, T), (H, T, T) or (B, H, T, T) that is of one head: (T, T), or (B, T, T) for
/// texts (B, T, D). B and H may be 1.
Tensor of_head(const Tensor& mask, int64_t head, int64_t heads, bool batch) {
  if (!mask.defined() || mask.rank() == 2) return mask;
  const bool fits = (mask.rank() == 3 || mask.rank() == 4) && (mask.dim(-3) == heads || mask.dim(-3) == 1) &&
                    (mask.rank() == 3 || batch || mask.dim(0) == 1);
  if (!fits) {
    fail(ErrorKind::kShape,
         "multi_head_self_attention: a mask or bias must be (T, T), ({0}, T, T){1}, not {2}", heads,
         batch ? fmt::format(" or (B, {}, T, T)", heads) : "", mask.shape().to_string());
  }
  const Tensor one = contiguous(mask.narrow(mask.rank() - 3, mask.dim(-3) == 1 ? 0 : head, 1));
  if (mask.rank() == 3 || !batch) return one.reshape({mask.dim(-2), mask.dim(-1)});
  return one.reshape({mask.dim(0), mask.dim(-2), mask.dim(-1)});
}

/// (T, T) of each head, and B of them where there is a batch -> (..., H, T, T)
Tensor beside_each_other(const std::vector<Tensor>& heads) {
  const Tensor& first = heads.front();
  const auto count = static_cast<int64_t>(heads.size());
  const int64_t matrix = first.dim(-2) * first.dim(-1), batch = first.rank() == 3 ? first.dim(0) : 1;
  const Shape one_text{count, first.dim(-2), first.dim(-1)};
  const Shape shape = first.rank() == 3 ? Shape{batch, count, first.dim(-2), first.dim(-1)} : one_text;
  Tensor all = Tensor::empty(shape, first.dtype());
  const auto bytes = static_cast<size_t>(matrix) * size_of(first.dtype());
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t h = 0; h < count; ++h) {
      std::copy_n(static_cast<const char*>(heads[h].bytes()) + static_cast<size_t>(b) * bytes, bytes,
                  static_cast<char*>(all.bytes()) + static_cast<size_t>(b * count + h) * bytes);
    }
  }
  return all;
}

}  // namespace

AttentionResult plain_self_attention_in_loops(const Tensor& x) {
  if (x.rank() != 2) {
    fail(ErrorKind::kShape, "plain_self_attention_in_loops: x must be (T, D), not {}", x.shape().to_string());
  }
  const Tensor words = contiguous(x);
  Tensor weights = Tensor::empty({x.dim(0), x.dim(0)}, x.dtype()),
         output = Tensor::empty(x.shape(), x.dtype());
  ops::for_float_type("plain_self_attention_in_loops", words,
                      [&]<typename T>(T) { attend_in_loops<T>(words, weights, output); });
  return {output, weights};
}

AttentionResult self_attention(const Tensor& x, const SelfAttentionMatrices& u,
                               const AttentionOptions& options, double scale) {
  const Tensor words = contiguous(x);
  const Tensor query = projected("U_q", words, u.query);  // (..., T, d_k)
  const Tensor key = projected("U_k", words, u.key);      // (..., T, d_k)
  const Tensor value = projected("U_v", words, u.value);  // (..., T, d_v)
  return scaled_dot_product_attention(query, key, value, options, scale);
}

AttentionResult multi_head_self_attention(const Tensor& x, const std::vector<SelfAttentionMatrices>& heads,
                                          const Tensor& output_projection, const AttentionOptions& options) {
  if (heads.empty() || x.rank() < 2 || x.rank() > 3) {
    fail(ErrorKind::kShape,
         "multi_head_self_attention: x must be (T, D) or (B, T, D), with a head at least; not "
         "{} with {}",
         x.shape().to_string(), heads.size());
  }
  std::vector<Var> outputs;
  std::vector<Tensor> weights;
  const auto count = static_cast<int64_t>(heads.size());
  for (int64_t h = 0; h < count; ++h) {
    AttentionOptions own = options;
    own.mask = of_head(options.mask, h, count, x.rank() == 3);
    own.bias = of_head(options.bias, h, count, x.rank() == 3);
    const AttentionResult head = self_attention(x, heads[static_cast<size_t>(h)], own);
    outputs.emplace_back(head.output);  // (..., T, d_v)
    weights.push_back(head.weights);    // (..., T, T)
  }
  const Tensor all = ops::concatenate(outputs).value();                                // (..., T, h d_v)
  AttentionResult result{projected("the output projection", all, output_projection)};  // (..., T, D_out)
  if (options.weights) result.weights = beside_each_other(weights);
  return result;
}

}  // namespace heed
