// A weighted sum.
#pragma once

#include "autograd/tape.h"

namespace heed::ops {

/// sum over i of weights[i] * x[i]: x (...), weights, a constant of the same shape and type, -> (1).
Var weighted_sum(const Var& x, const Tensor& weights);

}  // namespace heed::ops
