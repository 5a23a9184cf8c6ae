// y = x W^T + b
#pragma once

#include "autograd/tape.h"

namespace heed {
class PackedMatrix;
}

namespace heed::ops {

/// x (..., in), weight (out, in), bias (out) or undefined -> (..., out). Throws kShape where they do not fit.
Var linear(const Var& x, const Var& weight, const Var& bias = {});

/// The same with weight and bias laid out for inference; float32, and without a derivative.
Tensor linear(const Tensor& x, const PackedMatrix& weight);

}  // namespace heed::ops
