// Multiplication by constants.
#pragma once

#include <vector>

#include "autograd/tape.h"

namespace heed::ops {

/// factor * x, of the same shape.
Var scale(const Var& x, double factor);

/// Multiplies each head by its factor: x (..., H * width) -> the same shape, head h in columns [h * width, (h
/// + 1) * width). Throws kShape if the factors do not divide the columns.
Var scale_heads(const Var& x, const std::vector<float>& factors);

}  // namespace heed::ops
