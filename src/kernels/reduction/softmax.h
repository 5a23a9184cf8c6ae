// Softmax over rows, and cross-entropy with label smoothing.
#pragma once

#include <cstdint>

namespace heed {

/// For each row of logits z (rows, classes) with target t and smoothing s (Szegedy et al., 2016), over all
/// classes:
///   loss = (1 - s) (-log p_t) + s / classes * sum_c (-log p_c),  p = softmax(z)
/// as PyTorch and Marian define it, or with `others` over the classes that are not the target:
///   loss = (1 - s) (-log p_t) + s / (classes - 1) * sum_{c != t} (-log p_c)
/// as fairseq and Tensor2Tensor do.
template <typename T>
struct CrossEntropyArguments {
  int64_t rows = 0, classes = 0;
  const T* logits = nullptr;  ///< (rows, classes)
  const int32_t* targets = nullptr;
  int32_t ignored = -1;  ///< rows with this target have loss 0 and no gradient
  double smoothing = 0;
  bool others = false;
  T* losses = nullptr;                    ///< (rows)
  T* negative_log_likelihoods = nullptr;  ///< (rows), -log p_t without smoothing, or null
  /// d(gradient_scale * sum of losses) / dz, or null; may be `logits` itself.
  T* dlogits = nullptr;
  T gradient_scale = 1;
};
void cross_entropy(const CrossEntropyArguments<float>& arguments);
void cross_entropy(const CrossEntropyArguments<double>& arguments);

/// log softmax of each row: y = x - max - log(sum(exp(x - max))). In place where y is x.
template <typename T>
struct LogSoftmaxArguments {
  int64_t rows = 0, classes = 0;
  const T* x = nullptr;
  T* y = nullptr;
};
void log_softmax(const LogSoftmaxArguments<float>& arguments);
void log_softmax(const LogSoftmaxArguments<double>& arguments);

/// Softmax over the visible positions of each row; 0 elsewhere, and everywhere where none is visible.
template <typename T>
struct MaskedSoftmaxArguments {
  int64_t rows = 0, columns = 0;
  const T* scores = nullptr;         ///< (rows, columns)
  const T* bias = nullptr;           ///< added to the scores, row `bias_stride` apart, or null
  const uint8_t* visible = nullptr;  ///< 1 where a query may see a key, rows `visible_stride` apart, or null
  int64_t bias_stride = 0, visible_stride = 0;
  T* weights = nullptr;
};
void masked_softmax(const MaskedSoftmaxArguments<float>& arguments);
void masked_softmax(const MaskedSoftmaxArguments<double>& arguments);

/// dscores = weights (dweights - sum over the row of dweights weights)
template <typename T>
struct SoftmaxBackwardArguments {
  int64_t rows = 0, columns = 0;
  const T* weights = nullptr;
  const T* dweights = nullptr;
  T* dscores = nullptr;
};
void softmax_backward(const SoftmaxBackwardArguments<float>& arguments);
void softmax_backward(const SoftmaxBackwardArguments<double>& arguments);

}  // namespace heed
