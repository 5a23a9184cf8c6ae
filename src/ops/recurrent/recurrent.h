// Recurrent layers over packed sequences, in one or several directions at once: GRU (Cho et al., 2014) and
// LSTM (Hochreiter and Schmidhuber, 1997). kernels/recurrent/recurrent_cell.h has the formulas of a step.
//
// One op for whole sequences, with backpropagation through time written by hand. Its oracle in the tests is a
// chain of elementwise ops, one token after the other.
#pragma once

#include <vector>

#include "autograd/tape.h"
#include "kernels/gemm/gemm.h"
#include "kernels/recurrent/recurrent_cell.h"
#include "ops/attention/attention.h"

namespace heed {
class PackedMatrix;
}

namespace heed::ops {

/// Parameters of one direction. S is the width of a state, G the number of gates of the cell.
struct RecurrentDirection {
  Var hidden_weight;       ///< W_h (G S, S)
  Var hidden_bias{};       ///< b_h (G S), or undefined
  bool reverse = false;    ///< from each sequence's own last token to its first
  Columns initial{};       ///< the first states, S columns of (B, any); undefined: zeros
  Columns initial_cell{};  ///< LSTM: the first cells, likewise
  MatmulPrecision precision = MatmulPrecision::kHighest;
  /// The packed weight, without the bias, or null; used where no gradient is wanted.
  const PackedMatrix* packed = nullptr;
};

struct RecurrentStates {
  Var states;    ///< (N, directions S): the state after each token, of every direction
  Tensor cells;  ///< LSTM: the cells likewise, as values only
};

/// input_gates (N, directions G S) = W_i x + b_i of every direction side by side, for sequences with offsets
/// (B + 1). Throws kShape.
RecurrentStates recurrent(RecurrentCell cell, const Var& input_gates, const std::vector<int32_t>& offsets,
                          const std::vector<RecurrentDirection>& directions);

}  // namespace heed::ops
