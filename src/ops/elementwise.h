// Element-wise operations.
#pragma once

#include "autograd/tape.h"
#include "kernels/pointwise/dropout.h"
#include "kernels/pointwise/elementwise.h"

namespace heed::ops {

/// a + b, of the same shape.
Var add(const Var& a, const Var& b);

/// f(x)
Var activate(Activation function, const Var& x);

/// cap tanh(x / cap): about x where it is small, and never beyond +-cap (Gemma team, "Gemma 2", 2024). Throws
/// kUsage for a cap that is not above 0.
Var soft_cap(const Var& x, double cap);

/// Gated linear unit (Shazeer, "GLU variants improve Transformer", 2020):
/// x (..., 2 F) -> (..., F) = f(columns [0, F)) * columns [F, 2 F)
Var gated_activation(Activation function, const Var& x);

/// Each element is 0 with the stream's probability and divided by the probability of being kept otherwise.
Var dropout(const Var& x, const DropoutStream& stream);
/// The same with a given mask of x's shape, uint8: 1 is kept and divided by (1 - probability), 0 dropped.
Var dropout(const Var& x, const Tensor& keep, double probability);
/// residual + dropout(x), in one pass.
Var add_dropout(const Var& residual, const Var& x, const DropoutStream& stream);

}  // namespace heed::ops
