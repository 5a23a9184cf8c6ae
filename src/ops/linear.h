// y = x W^T + b
#pragma once

#include "autograd/tape.h"
#include "kernels/gemm/gemm.h"
#include "kernels/pointwise/elementwise.h"

namespace heed {
class PackedMatrix;
}

namespace heed::ops {

/// x (..., in), weight (out, in), bias (out) or undefined -> (..., out). Throws kShape where they do not fit.
/// `precision` is that of the product and of those of its derivatives.
Var linear(const Var& x, const Var& weight, const Var& bias = {},
           MatmulPrecision precision = MatmulPrecision::kHighest);

/// The same with weight and bias laid out for inference; float32, and without a derivative.
Tensor linear(const Tensor& x, const PackedMatrix& weight);

/// The same with a derivative, for which the transposed weight (in, out) is laid out, too.
Var linear(const Var& x, const PackedMatrix& weight, const PackedMatrix& transposed);

/// A feed-forward network of two such layers, second(f(first(x))): x (..., in) -> (..., out). Some rows at a
/// time, so that f's results stay in cache.
Tensor feed_forward(const Tensor& x, const PackedMatrix& first, Activation function,
                    const PackedMatrix& second);

}  // namespace heed::ops
