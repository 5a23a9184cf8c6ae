// The same elements under another shape.
#pragma once

#include "autograd/tape.h"

namespace heed::ops {

/// x with its elements in the same order; throws kShape where the sizes differ.
Var reshape(const Var& x, const Shape& shape);

}  // namespace heed::ops
