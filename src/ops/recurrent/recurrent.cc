#include "ops/recurrent/recurrent.h"

#include <memory>
#include <utility>

#include "ops/gradients.h"
#include "ops/recurrent/unrolled.h"

namespace heed::ops {
namespace {

int64_t require_fit(RecurrentCell cell, const Var& input_gates, const std::vector<int32_t>& offsets,
                    const std::vector<RecurrentDirection>& directions) {
  require_rows("recurrent", input_gates.value());
  if (directions.empty() || offsets.empty() || input_gates.shape().rank() != 2 ||
      input_gates.dim(0) != offsets.back()) {
    fail(ErrorKind::kShape, "recurrent: {} directions over {} tokens do not fit gates of {}",
         directions.size(), offsets.empty() ? 0 : offsets.back(), input_gates.shape().to_string());
  }
  const Var& first = directions[0].hidden_weight;
  const int64_t width = first.shape().rank() == 2 ? first.dim(1) : 0;
  const int64_t gates = gates_of(cell) * width;
  for (const RecurrentDirection& direction : directions) {
    require_same_type("recurrent", input_gates.value(), direction.hidden_weight.value());
    require_rows("recurrent", direction.hidden_weight.value());
    if (width == 0 || !(direction.hidden_weight.shape() == Shape{gates, width})) {
      fail(ErrorKind::kShape, "recurrent: the weight of a cell of {} gates must be ({} S, S), not {}",
           gates_of(cell), gates_of(cell), direction.hidden_weight.shape().to_string());
    }
    if (direction.hidden_bias.defined() && !(direction.hidden_bias.shape() == Shape{gates})) {
      fail(ErrorKind::kShape, "recurrent: a weight of {} needs a bias of ({}), not {}",
           direction.hidden_weight.shape().to_string(), gates, direction.hidden_bias.shape().to_string());
    }
    const auto sequences = static_cast<int64_t>(offsets.size()) - 1;
    require_initial("recurrent", direction.initial, sequences, width, input_gates.dtype());
    require_initial("recurrent", direction.initial_cell, sequences, width, input_gates.dtype());
  }
  if (input_gates.dim(1) != static_cast<int64_t>(directions.size()) * gates) {
    fail(ErrorKind::kShape, "recurrent: {} directions with weights of {} do not fit gates of {}",
         directions.size(), first.shape().to_string(), input_gates.shape().to_string());
  }
  return width;
}

/// A direction at work.
struct DirectionPass {
  RecurrentDirection direction;
  Unrolled unrolled;
};

template <typename T>
void forward(DirectionPass& pass, bool training) {
  Unrolled& u = pass.unrolled;
  const Tensor& weight = pass.direction.hidden_weight.value();
  gather_initial<T>(u, pass.direction.initial, u.initial);
  gather_initial<T>(u, pass.direction.initial_cell, u.initial_cells);
  for (int64_t t = 0; t < u.steps.count(); ++t) {
    multiply(shape_of(u, u.steps.live(t), weight), before<T>(u, u.initial, u.states, t), weight,
             training ? nullptr : pass.direction.packed, row_of<T>(u.hidden, u.steps.begin(t)));
    recurrent_cell(cell_arguments<T>(u, pass.direction.hidden_bias, t));
  }
}

/// Backpropagation through time; `g` has the gradients of the states.
template <typename T>
void backward(DirectionPass& pass, UnrolledGradients& g) {
  Unrolled& u = pass.unrolled;
  const RecurrentDirection& direction = pass.direction;
  const Tensor& weight = direction.hidden_weight.value();
  for (int64_t t = u.steps.count() - 1; t >= 0; --t) {
    cell_backward<T>(u, g, direction.hidden_bias, t);
    input_gradient(shape_of(u, u.steps.live(t), weight), row_of<T>(g.hidden, u.steps.begin(t)),
                   weight.data<T>(), before<T>(u, g.initial, g.states, t), /*accumulate=*/true);
  }
  add_weight_gradients<T>(u, g, direction.hidden_weight, direction.hidden_bias);
  scatter_initial<T>(u, g.initial, direction.initial);
  scatter_initial<T>(u, g.initial_cells, direction.initial_cell);
}

}  // namespace

RecurrentStates recurrent(RecurrentCell cell, const Var& input_gates, const std::vector<int32_t>& offsets,
                          const std::vector<RecurrentDirection>& directions) {
  const int64_t width = require_fit(cell, input_gates, offsets, directions);
  const int64_t gate_width = gates_of(cell) * width, all_gates = input_gates.dim(1);
  const int64_t all_states = static_cast<int64_t>(directions.size()) * width;
  Tape* tape = input_gates.tape();
  auto passes = std::make_shared<std::vector<DirectionPass>>();
  for (const RecurrentDirection& direction : directions) {
    const Tape* other = tape_of(direction.hidden_weight, direction.hidden_bias, direction.initial.var,
                                direction.initial_cell.var);
    tape = tape != nullptr ? tape : const_cast<Tape*>(other);
    passes->push_back(
        {direction, {cell, TimeSteps(offsets, direction.reverse), width, gate_width, input_gates.dtype()}});
    passes->back().unrolled.precision = direction.precision;
  }
  RecurrentStates result;
  Tensor states = Tensor::empty({input_gates.dim(0), all_states}, input_gates.dtype());
  if (cell == RecurrentCell::kLstm) result.cells = Tensor::empty(states.shape(), states.dtype());
  for_float_type("recurrent", states, [&]<typename T>(T) {
    for (size_t n = 0; n < passes->size(); ++n) {
      const auto direction_index = static_cast<int64_t>(n);
      Unrolled& u = (*passes)[n].unrolled;
      const std::vector<int32_t>& rows = u.steps.packed_rows();
      gather_rows<T>(rows, gate_width,
                     {input_gates.value().data<T>() + direction_index * gate_width, all_gates},
                     {u.gates.data<T>(), gate_width});
      forward<T>((*passes)[n], tape != nullptr);
      scatter_rows<T>(rows, width, {u.states.data<T>(), width},
                      {states.data<T>() + direction_index * width, all_states});
      if (u.cells.defined()) {
        scatter_rows<T>(rows, width, {u.cells.data<T>(), width},
                        {result.cells.data<T>() + direction_index * width, all_states});
      }
    }
  });
  result.states = states;
  if (tape == nullptr) return result;
  result.states = tape->record(
      states, [passes, input_gates, width, gate_width, all_gates, all_states](const Tensor& upstream) {
        Tensor dgates = accumulator_of(input_gates);
        for_float_type("recurrent", upstream, [&]<typename T>(T) {
          for (size_t n = 0; n < passes->size(); ++n) {
            const auto direction_index = static_cast<int64_t>(n);
            Unrolled& u = (*passes)[n].unrolled;
            const std::vector<int32_t>& rows = u.steps.packed_rows();
            UnrolledGradients g(u);
            gather_rows<T>(rows, width, {upstream.data<T>() + direction_index * width, all_states},
                           {g.states.data<T>(), width});
            backward<T>((*passes)[n], g);
            if (dgates.defined()) {
              scatter_add_rows<T>(rows, gate_width, {g.gates.data<T>(), gate_width},
                                  {dgates.data<T>() + direction_index * gate_width, all_gates});
            }
          }
        });
      });
  return result;
}

}  // namespace heed::ops
