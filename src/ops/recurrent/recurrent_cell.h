// One step of a recurrent network with gates, after the matrix products. kernels/recurrent/recurrent_cell.h
// has the formulas.
#pragma once

#include "autograd/tape.h"
#include "kernels/recurrent/recurrent_cell.h"

namespace heed::ops {

/// h' of a GRU: input_gates (R, 3 S) = W_i x + b_i, hidden_gates (R, 3 S) = W_h h + b_h, both in the order
/// r, z, n, and h (R, S) -> (R, S).
Var gru_cell(const Var& input_gates, const Var& hidden_gates, const Var& h);

/// h' and c' of an LSTM side by side: input_gates (R, 4 S) = W_i x + b_i, hidden_gates (R, 4 S) = W_h h +
/// b_h, both in the order i, f, g, o, and c (R, S) -> (R, 2 S).
Var lstm_cell(const Var& input_gates, const Var& hidden_gates, const Var& c);

}  // namespace heed::ops
