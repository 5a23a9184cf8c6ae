// Adam and AdamW, in one pass over flat arrays (Kingma and Ba, 2015; Loshchilov and Hutter, 2019).
#pragma once

#include <cstdint>

namespace heed {

/// Update number n, counted from 1, with g = gradient * gradient_scale:
///   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
///   w -= rate * (m / (1 - beta1^n)) / (sqrt(v / (1 - beta2^n)) + epsilon)
/// after w -= rate * weight_decay * w where `decoupled` (AdamW); otherwise the decay is added to g as
/// weight_decay * w.
template <typename T>
struct AdamArguments {
  int64_t size = 0;
  T* weights = nullptr;
  T* m = nullptr;
  T* v = nullptr;
  const T* gradients = nullptr;
  double gradient_scale = 1;  ///< from clipping
  double rate = 0, beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9, weight_decay = 0;
  bool decoupled = true;
  int64_t n = 1;
};
void adam(const AdamArguments<float>& arguments);
void adam(const AdamArguments<double>& arguments);

/// The sum of squares of x, added up in double precision.
template <typename T>
struct SumOfSquaresArguments {
  int64_t size = 0;
  const T* x = nullptr;
  double* sum = nullptr;
};
void sum_of_squares(const SumOfSquaresArguments<float>& arguments);
void sum_of_squares(const SumOfSquaresArguments<double>& arguments);

}  // namespace heed
