// Layer normalization over the features of each row (Ba, Kiros and Hinton, 2016):
// y = (x - mean) / sqrt(variance + epsilon) * weight + bias, the variance divided by the number of features.
#pragma once

#include <cstdint>

namespace heed {

template <typename T>
struct LayerNormArguments {
  int64_t rows = 0, width = 0;
  double epsilon = 1e-5;
  const T* x = nullptr;
  const T* weight = nullptr;
  const T* bias = nullptr;
  T* y = nullptr;
  T* mean = nullptr;         ///< (rows), kept for the backward pass, or null
  T* rstd = nullptr;         ///< (rows), 1 / sqrt(variance + epsilon), or null
  const T* added = nullptr;  ///< (rows, width), added to x before, or null
};
void layer_norm(const LayerNormArguments<float>& arguments);
void layer_norm(const LayerNormArguments<double>& arguments);

/// With n = (x - mean) rstd and g = dy * weight:
/// dx = rstd (g - mean(g) - n mean(g n)); dweight += sum over rows of dy n; dbias += sum over rows of dy.
template <typename T>
struct LayerNormBackwardArguments {
  int64_t rows = 0, width = 0;
  const T* x = nullptr;
  const T* weight = nullptr;
  const T* mean = nullptr;
  const T* rstd = nullptr;
  const T* dy = nullptr;
  T* dx = nullptr;
  T* dweight = nullptr;  ///< added to
  T* dbias = nullptr;    ///< added to
};
void layer_norm_backward(const LayerNormBackwardArguments<float>& arguments);
void layer_norm_backward(const LayerNormBackwardArguments<double>& arguments);

}  // namespace heed
