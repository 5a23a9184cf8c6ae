// Layer normalization.
#pragma once

#include "autograd/tape.h"

namespace heed::ops {

/// Over the last axis: y = (x - mean) / sqrt(variance + epsilon) * weight + bias (Ba, Kiros and Hinton,
/// 2016). x (..., D), weight and bias (D).
Var layer_norm(const Var& x, const Var& weight, const Var& bias, double epsilon = 1e-5);
/// The same of x + added, of one shape, in one pass over memory. Without a derivative.
Tensor layer_norm_of_sum(const Tensor& x, const Tensor& added, const Tensor& weight, const Tensor& bias,
                         double epsilon = 1e-5);

}  // namespace heed::ops
