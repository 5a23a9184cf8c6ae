// y = x W^T + b
#pragma once

#include "autograd/tape.h"

namespace heed {
class PackedMatrix;
}

namespace heed::ops {

/// x (..., in), weight (out, in), bias (out) or undefined -> (..., out). Throws kShape where they do not fit.
/// `packed` holds the same weight and bias laid out for inference, or is null; it is used where no gradient
/// is wanted.
Var linear(const Var& x, const Var& weight, const Var& bias = {}, const PackedMatrix* packed = nullptr);

}  // namespace heed::ops
