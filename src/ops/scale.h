// Multiplication by a constant.
#pragma once

#include "autograd/tape.h"

namespace heed::ops {

/// factor * x, of the same shape.
Var scale(const Var& x, double factor);

}  // namespace heed::ops
