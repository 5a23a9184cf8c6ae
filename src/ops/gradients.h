// Where the backward pass of an op adds the gradients of its inputs.
#pragma once

#include "autograd/tape.h"

namespace heed::ops {

/// The accumulator of x's gradient; undefined for a constant.
inline Tensor accumulator_of(const Var& x) {
  return x.wants_gradient() ? x.tape()->accumulator(x) : Tensor();
}

/// The same for kernels that add to all gradients: for a constant, scratch memory set to zero.
inline Tensor accumulator_or_scratch(const Var& x) {
  return x.wants_gradient() ? x.tape()->accumulator(x) : Tensor::zeros(x.shape(), x.dtype());
}

}  // namespace heed::ops
