// Root mean square normalization.
#pragma once

#include "autograd/tape.h"

namespace heed::ops {

/// Over the last axis: y = x / sqrt(mean(x^2) + epsilon) * weight (Zhang and Sennrich, 2019). x (..., D),
/// weight (D).
Var rms_norm(const Var& x, const Var& weight, double epsilon = 1e-6);

}  // namespace heed::ops
