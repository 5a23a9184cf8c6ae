// One step of a recurrent network as a chain of elementwise ops: the oracle of ops/recurrent/recurrent.h,
// itself compared with PyTorch. kernels/recurrent/recurrent_cell.h has the formulas.
#pragma once

#include "ops/columns.h"
#include "ops/elementwise.h"
#include "ops/scale.h"

namespace heed::ops {

/// sigmoid(gate) * x.
inline Var gated(const Var& gate, const Var& x) {
  return gated_activation(Activation::kSigmoid, concatenate({gate, x}));
}

/// h' of a GRU, (R, S), from `input` = W_i x + b_i, `hidden` = W_h h + b_h, both (R, 3 S), and h (R, S).
inline Var gru_cell(const Var& input, const Var& hidden, const Var& h) {
  const int64_t width = h.dim(1);
  const auto gate = [&](int64_t n) {
    return add(columns(input, n * width, width), columns(hidden, n * width, width));
  };
  const Var r_h = gated(gate(0), columns(hidden, 2 * width, width));
  const Var n = activate(Activation::kTanh, add(columns(input, 2 * width, width), r_h));
  return add(n, gated(gate(1), add(h, scale(n, -1))));  // n + z (h - n)
}

/// h' and c' of an LSTM side by side, (R, 2 S), from gates (R, 4 S) and c (R, S).
inline Var lstm_cell(const Var& input, const Var& hidden, const Var& c) {
  const int64_t width = c.dim(1);
  const Var gates = add(input, hidden);  // i, f, g, o
  const auto gate = [&](int64_t n) { return columns(gates, n * width, width); };
  const Var next = add(gated(gate(1), c), gated(gate(0), activate(Activation::kTanh, gate(2))));
  return concatenate({gated(gate(3), activate(Activation::kTanh, next)), next});
}

}  // namespace heed::ops
