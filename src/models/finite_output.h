// Checks model output for NaN and infinity. Weights are checked when loaded, but a damaged or hostile model
// may overflow during computation.
#pragma once

#include <span>

#include "base/check.h"
#include "heed/tensor.h"
#include "tensor/finite.h"

namespace heed::models {

[[noreturn]] inline void fail_not_finite() {
  fail(ErrorKind::kNumeric,
       "the model's output is NaN or infinite: its weights are damaged or out of range (heed info --verify "
       "finds damage)");
}

/// Throws kNumeric unless all values are finite.
inline void require_finite_output(std::span<const float> values) {
  if (first_not_finite(values.data(), values.size()) < values.size()) fail_not_finite();
}
inline void require_finite_output(const Tensor& values) {
  require_finite_output({values.data<float>(), static_cast<size_t>(values.size())});
}

}  // namespace heed::models
