// Root mean square normalization over the features of each row (Zhang and Sennrich, 2019), as LLaMA has it:
// y = x / sqrt(mean(x^2) + epsilon) * weight.
#pragma once

#include <cstdint>

namespace heed {

template <typename T>
struct RmsNormArguments {
  int64_t rows = 0, width = 0;
  double epsilon = 1e-6;
  const T* x = nullptr;
  const T* weight = nullptr;
  T* y = nullptr;
  T* rrms = nullptr;  ///< (rows), 1 / sqrt(mean(x^2) + epsilon), kept for the backward pass, or null
};
void rms_norm(const RmsNormArguments<float>& arguments);
void rms_norm(const RmsNormArguments<double>& arguments);

/// With n = x rrms and g = dy * weight: dx = rrms (g - n mean(g n)); dweight += sum over rows of dy n.
template <typename T>
struct RmsNormBackwardArguments {
  int64_t rows = 0, width = 0;
  const T* x = nullptr;
  const T* weight = nullptr;
  const T* rrms = nullptr;
  const T* dy = nullptr;
  T* dx = nullptr;
  T* dweight = nullptr;  ///< added to
};
void rms_norm_backward(const RmsNormBackwardArguments<float>& arguments);
void rms_norm_backward(const RmsNormBackwardArguments<double>& arguments);

}  // namespace heed
