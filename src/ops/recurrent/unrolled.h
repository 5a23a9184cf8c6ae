// One direction of a recurrent layer, unrolled in time: the steps that ops/recurrent/recurrent.cc and
// ops/recurrent/recurrent_decoder.cc share. Not for use elsewhere.
//
// The products of the inputs are computed for all tokens before, those of the states step by step. In the
// backward pass, only the gradient that flows from step to step needs a product for each step; the gradients
// of the weights are one product over all steps at the end (backpropagation through time, Werbos, 1990).
#pragma once

#include <algorithm>

#include "kernels/gemm/packed/packed_matrix.h"
#include "kernels/pointwise/elementwise.h"
#include "kernels/recurrent/recurrent_cell.h"
#include "ops/attention/attention.h"
#include "ops/dispatch.h"
#include "ops/linear_products.h"
#include "ops/recurrent/time_steps.h"

namespace heed::ops {

/// Saved by the forward pass for the backward pass. All matrices are in steps; S is the width of the state,
/// G the number of gates of the cell, H >= G S the rows of the recurrent weight, of which some may serve
/// others.
struct Unrolled {
  RecurrentCell cell;
  TimeSteps steps;
  int64_t width;  ///< S
  MatmulPrecision precision = MatmulPrecision::kHighest;
  Tensor gates;                   ///< (N, G S): products of the inputs, then the gates
  Tensor hidden;                  ///< (N, H): products of the states before
  Tensor states, cells;           ///< (N, S): after each step; cells of an LSTM
  Tensor initial, initial_cells;  ///< (B, S)

  Unrolled(RecurrentCell kind, TimeSteps plan, int64_t state_width, int64_t hidden_width, DType dtype)
      : cell(kind),
        steps(std::move(plan)),
        width(state_width),
        gates(Tensor::empty({steps.rows(), gates_of(kind) * state_width}, dtype)),
        hidden(Tensor::empty({steps.rows(), hidden_width}, dtype)),
        states(Tensor::empty({steps.rows(), state_width}, dtype)),
        initial(Tensor::zeros({static_cast<int64_t>(steps.sequences().size()), state_width}, dtype)) {
    if (kind == RecurrentCell::kLstm) {
      cells = Tensor::empty(states.shape(), dtype);
      initial_cells = Tensor::zeros(initial.shape(), dtype);
    }
  }
};

/// Row `n` of a contiguous matrix; null for an undefined one.
template <typename T>
T* row_of(Tensor& matrix, int64_t n) {
  return matrix.defined() ? matrix.data<T>() + n * matrix.dim(1) : nullptr;
}

/// The state before step t: the rows of the previous step, of which the first are still live.
template <typename T>
T* before(const Unrolled& u, Tensor& initial, Tensor& all, int64_t t) {
  return t == 0 ? row_of<T>(initial, 0) : row_of<T>(all, u.steps.begin(t - 1));
}

/// y (rows, out) = x (rows, in) W^T, by the packed weight where there is one.
template <typename T>
void multiply(const LinearShape& shape, const T* x, const Tensor& weight, const PackedMatrix* packed, T* y) {
  if constexpr (std::is_same_v<T, float>) {
    if (packed != nullptr) return packed->multiply(x, shape.rows, y);
  }
  multiply_weight(shape, x, weight.data<T>(), y);
}

/// The shape of a product of `rows` rows with a weight (out, in).
inline LinearShape shape_of(const Unrolled& u, int64_t rows, const Tensor& weight) {
  return {rows, weight.dim(1), weight.dim(0), u.precision};
}

template <typename T>
RecurrentCellArguments<T> cell_arguments(Unrolled& u, const Var& hidden_bias, int64_t t) {
  const int64_t begin = u.steps.begin(t);
  return {.cell = u.cell,
          .rows = u.steps.live(t),
          .width = u.width,
          .gates = row_of<T>(u.gates, begin),
          .hidden = row_of<T>(u.hidden, begin),
          .hidden_stride = u.hidden.dim(1),
          .hidden_bias = hidden_bias.defined() ? hidden_bias.value().data<T>() : nullptr,
          .h = before<T>(u, u.initial, u.states, t),
          .c = before<T>(u, u.initial_cells, u.cells, t),
          .next_h = row_of<T>(u.states, begin),
          .next_c = row_of<T>(u.cells, begin)};
}

/// The gradients of the matrices of Unrolled. `hidden` may have more columns than the cell's gates; the
/// caller adds the gradients of those.
struct UnrolledGradients {
  Tensor gates, hidden, states, cells, initial, initial_cells;

  explicit UnrolledGradients(const Unrolled& u)
      : gates(Tensor::empty(u.gates.shape(), u.gates.dtype())),
        hidden(Tensor::zeros(u.hidden.shape(), u.hidden.dtype())),
        states(Tensor::empty(u.states.shape(), u.states.dtype())),
        initial(Tensor::zeros(u.initial.shape(), u.initial.dtype())) {
    if (u.cells.defined()) {
      cells = Tensor::zeros(u.cells.shape(), u.cells.dtype());
      initial_cells = Tensor::zeros(u.initial_cells.shape(), u.initial_cells.dtype());
    }
  }
};

/// The backward pass of the cell of step t: the gradients of gates and hidden from those of states and cells,
/// and the part of the gradient that bypasses the gates to the previous step.
template <typename T>
void cell_backward(Unrolled& u, UnrolledGradients& g, const Var& hidden_bias, int64_t t) {
  const int64_t begin = u.steps.begin(t);
  recurrent_cell_backward({.forward = cell_arguments<T>(u, hidden_bias, t),
                           .dnext_h = row_of<T>(g.states, begin),
                           .dnext_c = row_of<T>(g.cells, begin),
                           .dgates = row_of<T>(g.gates, begin),
                           .dhidden = row_of<T>(g.hidden, begin),
                           .dhidden_stride = g.hidden.dim(1),
                           .dh = before<T>(u, g.initial, g.states, t),
                           .dc = before<T>(u, g.initial_cells, g.cells, t)});
}

/// The initial states, (B, S) columns of a packed tensor, in the order of the steps. Unchanged, zeros, if
/// undefined.
template <typename T>
void gather_initial(const Unrolled& u, const Columns& from, Tensor& initial) {
  if (!from.var.defined() || !initial.defined()) return;
  gather_rows<T>(u.steps.sequences(), u.width, {from.var.value().data<T>() + from.begin, from.var.dim(1)},
                 {initial.data<T>(), u.width});
}

/// Their gradients.
template <typename T>
void scatter_initial(const Unrolled& u, const Tensor& dinitial, const Columns& to) {
  if (!dinitial.defined() || !to.var.wants_gradient()) return;
  Tensor sum = to.var.tape()->accumulator(to.var);
  scatter_add_rows<T>(u.steps.sequences(), u.width, {dinitial.data<T>(), u.width},
                      {sum.data<T>() + to.begin, to.var.dim(1)});
}

/// The gradients of the recurrent weight (H, S) and of its bias (G S), over all steps at once.
template <typename T>
void add_weight_gradients(Unrolled& u, const UnrolledGradients& g, const Var& weight, const Var& bias) {
  if (weight.wants_gradient()) {
    Tensor previous = Tensor::empty(u.states.shape(), u.states.dtype());  // h before each step: (N, S)
    for (int64_t t = 0; t < u.steps.count(); ++t) {
      std::copy_n(before<T>(u, u.initial, u.states, t), u.steps.live(t) * u.width,
                  row_of<T>(previous, u.steps.begin(t)));
    }
    Tensor dweight = weight.tape()->accumulator(weight);
    add_weight_gradient(shape_of(u, previous.dim(0), weight.value()), g.hidden.data<T>(), previous.data<T>(),
                        dweight.data<T>());
  }
  if (bias.wants_gradient()) {
    Tensor dbias = bias.tape()->accumulator(bias);
    add_rows({.rows = g.hidden.dim(0),
              .columns = bias.dim(0),
              .x = g.hidden.data<T>(),
              .x_stride = g.hidden.dim(1),
              .sum = dbias.data<T>()});
  }
}

/// Initial states fit S columns for each of `sequences`. Throws kShape.
inline void require_initial(const char* op, const Columns& initial, int64_t sequences, int64_t width,
                            DType dtype) {
  if (!initial.var.defined()) return;
  require_rows(op, initial.var.value());
  const Shape& shape = initial.var.shape();
  if (shape.rank() != 2 || shape[0] != sequences || initial.width != width || initial.begin < 0 ||
      initial.begin + width > shape[1] || initial.var.dtype() != dtype) {
    fail(ErrorKind::kShape, "{}: columns [{}, {}) of {} are not initial states of width {} for {} sequences",
         op, initial.begin, initial.begin + initial.width, shape.to_string(), width, sequences);
  }
}

}  // namespace heed::ops
