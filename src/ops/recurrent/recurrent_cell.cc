#include "ops/recurrent/recurrent_cell.h"

#include "ops/columns.h"
#include "ops/dispatch.h"

namespace heed::ops {
namespace {

void require_fit(const char* op, const Var& input_gates, const Var& hidden_gates, const Var& state,
                 int64_t gates) {
  require_same_shape(op, input_gates.value(), hidden_gates.value());
  require_same_type(op, input_gates.value(), state.value());
  require_rows(op, state.value());
  if (state.shape().rank() != 2 || !(input_gates.shape() == Shape{state.dim(0), gates * state.dim(1)})) {
    fail(ErrorKind::kShape, "{}: a state of {} needs gates of {} times its width, not {}", op,
         state.shape().to_string(), gates, input_gates.shape().to_string());
  }
}

/// The step itself; h or c may be undefined where the cell does not look at it.
struct Step {
  RecurrentCell cell;
  Tensor gates{}, hidden{}, h{}, c{}, next_h{}, next_c{};

  template <typename T>
  RecurrentCellArguments<T> arguments() {
    const auto data = [](Tensor& x) { return x.defined() ? x.data<T>() : nullptr; };
    return {.cell = cell,
            .rows = next_h.dim(0),
            .width = next_h.dim(1),
            .gates = gates.data<T>(),
            .hidden = hidden.data<T>(),
            .hidden_stride = hidden.dim(1),
            .h = data(h),
            .c = data(c),
            .next_h = next_h.data<T>(),
            .next_c = data(next_c)};
  }
};

}  // namespace

Var gru_cell(const Var& input_gates, const Var& hidden_gates, const Var& h) {
  require_fit("gru_cell", input_gates, hidden_gates, h, gates_of(RecurrentCell::kGru));
  Step step{.cell = RecurrentCell::kGru,
            .gates = input_gates.value().clone(),  // (R, 3 S)
            .hidden = hidden_gates.value(),
            .h = h.value(),
            .next_h = Tensor::empty(h.shape(), h.dtype())};
  for_float_type("gru_cell", step.gates, [&]<typename T>(T) { recurrent_cell(step.arguments<T>()); });
  Tape* tape = tape_of(input_gates, hidden_gates, h);
  if (tape == nullptr) return step.next_h;
  return tape->record(step.next_h, [tape, step, input_gates, hidden_gates, h](const Tensor& upstream) {
    Tensor dgates = Tensor::empty(step.gates.shape(), upstream.dtype());
    Tensor dhidden = Tensor::empty(step.gates.shape(), upstream.dtype());
    Tensor dh = Tensor::zeros(h.shape(), upstream.dtype());
    Step kept = step;
    for_float_type("gru_cell", upstream, [&]<typename T>(T) {
      recurrent_cell_backward({.forward = kept.arguments<T>(),
                               .dnext_h = upstream.data<T>(),
                               .dgates = dgates.data<T>(),
                               .dhidden = dhidden.data<T>(),
                               .dhidden_stride = dhidden.dim(1),
                               .dh = dh.data<T>()});
    });
    tape->add_gradient(input_gates, dgates);
    tape->add_gradient(hidden_gates, dhidden);
    tape->add_gradient(h, dh);
  });
}

Var lstm_cell(const Var& input_gates, const Var& hidden_gates, const Var& c) {
  require_fit("lstm_cell", input_gates, hidden_gates, c, gates_of(RecurrentCell::kLstm));
  const int64_t width = c.dim(1);
  Step step{.cell = RecurrentCell::kLstm,
            .gates = input_gates.value().clone(),  // (R, 4 S)
            .hidden = hidden_gates.value(),
            .c = c.value(),
            .next_h = Tensor::empty(c.shape(), c.dtype()),
            .next_c = Tensor::empty(c.shape(), c.dtype())};
  for_float_type("lstm_cell", step.gates, [&]<typename T>(T) { recurrent_cell(step.arguments<T>()); });
  const Tensor both = concatenate({step.next_h, step.next_c}).value();  // (R, 2 S)
  Tape* tape = tape_of(input_gates, hidden_gates, c);
  if (tape == nullptr) return both;
  return tape->record(both, [tape, step, width, input_gates, hidden_gates, c](const Tensor& upstream) {
    const Tensor dnext_h = columns(upstream, 0, width).value();      // (R, S)
    const Tensor dnext_c = columns(upstream, width, width).value();  // (R, S)
    Tensor dgates = Tensor::empty(step.gates.shape(), upstream.dtype());
    Tensor dhidden = Tensor::empty(step.gates.shape(), upstream.dtype());
    Tensor dc = Tensor::zeros(c.shape(), upstream.dtype());
    Step kept = step;
    for_float_type("lstm_cell", upstream, [&]<typename T>(T) {
      recurrent_cell_backward({.forward = kept.arguments<T>(),
                               .dnext_h = dnext_h.data<T>(),
                               .dnext_c = dnext_c.data<T>(),
                               .dgates = dgates.data<T>(),
                               .dhidden = dhidden.data<T>(),
                               .dhidden_stride = dhidden.dim(1),
                               .dc = dc.data<T>()});
    });
    tape->add_gradient(input_gates, dgates);
    tape->add_gradient(hidden_gates, dhidden);
    tape->add_gradient(c, dc);
  });
}

}  // namespace heed::ops
