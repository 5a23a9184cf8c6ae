// One step of a recurrent network with gates: what happens to each element after the matrix products.
//
// GRU (Cho et al., 2014), with the reset gate where PyTorch and cuDNN have it, so that one product serves all
// gates of h:
//   r = sigmoid(x_r + h_r)   z = sigmoid(x_z + h_z)   n = tanh(x_n + r * h_n)
//   h' = (1 - z) * n + z * h
// LSTM (Hochreiter and Schmidhuber, 1997; Gers et al., 2000):
//   i = sigmoid(x_i + h_i)   f = sigmoid(x_f + h_f)   g = tanh(x_g + h_g)   o = sigmoid(x_o + h_o)
//   c' = f * c + i * g       h' = o * tanh(c')
// with x_. = W_i. x + b_i. and h_. = W_h. h + b_h., in the order r, z, n and i, f, g, o.
#pragma once

#include <cstdint>

namespace heed {

enum class RecurrentCell { kGru, kLstm };

/// Gates of a cell, in the widths of its state: 3 or 4.
constexpr int64_t gates_of(RecurrentCell cell) {
  return cell == RecurrentCell::kGru ? 3 : 4;
}

/// S is the width of the state, G the number of gates. Without gaps, but for `hidden`.
template <typename T>
struct RecurrentCellArguments {
  RecurrentCell cell = RecurrentCell::kGru;
  int64_t rows = 0, width = 0;  ///< width: S
  T* gates = nullptr;           ///< (rows, G S): x_., and afterwards the gates themselves
  const T* hidden = nullptr;    ///< (rows, G S), rows `hidden_stride` apart: W_h. h
  int64_t hidden_stride = 0;
  const T* hidden_bias = nullptr;  ///< (G S): b_h., or null
  const T* h = nullptr;            ///< (rows, S); the LSTM does not look at it
  const T* c = nullptr;            ///< (rows, S), LSTM alone
  T* next_h = nullptr;             ///< (rows, S)
  T* next_c = nullptr;             ///< (rows, S), LSTM alone
};
void recurrent_cell(const RecurrentCellArguments<float>& arguments);
void recurrent_cell(const RecurrentCellArguments<double>& arguments);

template <typename T>
struct RecurrentCellBackwardArguments {
  RecurrentCellArguments<T> forward;  ///< as they were; `gates` holds the gates, next_c the new cells
  const T* dnext_h = nullptr;         ///< (rows, S)
  const T* dnext_c = nullptr;         ///< (rows, S), LSTM alone
  T* dgates = nullptr;                ///< (rows, G S), written: of x_.
  T* dhidden = nullptr;               ///< (rows, G S), rows `dhidden_stride` apart, written: of h_.
  int64_t dhidden_stride = 0;
  T* dh = nullptr;  ///< (rows, S), added to: what passes by the gates; the LSTM leaves it alone
  T* dc = nullptr;  ///< (rows, S), added to; LSTM alone
};
void recurrent_cell_backward(const RecurrentCellBackwardArguments<float>& arguments);
void recurrent_cell_backward(const RecurrentCellBackwardArguments<double>& arguments);

}  // namespace heed
