// The values of soft_cap() (elementwise.h), for it and for losses that cap their logits block by block.
#pragma once

#include <cstdint>

#include "kernels/pointwise/elementwise.h"

namespace heed::ops {

/// y = cap t with t = tanh(x / cap), element by element; `x` may be `y`. The derivative is 1 - t^2.
template <typename T>
void cap_values(const T* x, int64_t size, double cap, T* t, T* y) {
  const T factor = static_cast<T>(1 / cap), largest = static_cast<T>(cap);
  for (int64_t i = 0; i < size; ++i) y[i] = x[i] * factor;
  heed::activate({.function = Activation::kTanh, .size = size, .x = y, .y = t});
  for (int64_t i = 0; i < size; ++i) y[i] = t[i] * largest;
}

/// dy dy/dx, in place.
template <typename T>
void cap_gradient(const T* t, int64_t size, T* dy) {
  for (int64_t i = 0; i < size; ++i) dy[i] *= 1 - t[i] * t[i];
}

}  // namespace heed::ops
