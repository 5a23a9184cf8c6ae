#include "ops/recurrent/recurrent_decoder.h"

#include <memory>
#include <utility>

#include "kernels/recurrent/additive_attention.h"
#include "ops/gradients.h"
#include "ops/recurrent/unrolled.h"

namespace heed::ops {
namespace {

constexpr const char* kOp = "recurrent_decoder";

void require_matrix(const char* name, const Var& x, DType dtype, const Shape& wanted) {
  require_rows(kOp, x.value());
  if (!(x.shape() == wanted) || x.dtype() != dtype) {
    fail(ErrorKind::kShape, "{}: {} must be {} of {}, not {} of {}", kOp, name, wanted.to_string(),
         name_of(dtype), x.shape().to_string(), name_of(x.dtype()));
  }
}

/// Gives the width of a state.
int64_t require_fit(RecurrentCell cell, const Var& input_gates, const RecurrentMemory& memory,
                    const RecurrentDecoderWeights& weights, const AttentionLayout& layout) {
  for (const Var* x : {&input_gates, &weights.hidden, &memory.annotations, &memory.keys}) {
    if (x->shape().rank() != 2) {
      fail(ErrorKind::kShape, "{}: a matrix is needed, not {}", kOp, x->shape().to_string());
    }
  }
  const DType dtype = input_gates.dtype();
  const int64_t width = weights.hidden.dim(1), gates = gates_of(cell) * width;
  const int64_t keys = memory.annotations.dim(0);
  const int64_t asked = weights.v.defined() ? weights.v.dim(0) : width;
  const int64_t hidden = weights.v.defined() ? gates + asked : gates;
  require_matrix("the recurrent weight", weights.hidden, dtype, {hidden, width});
  require_matrix("the gates of the input", input_gates, dtype, {input_gates.dim(0), gates});
  require_matrix("the weight of the context", weights.context, dtype, {gates, memory.annotations.dim(1)});
  require_matrix("the keys", memory.keys, dtype, {keys, asked});
  require_matrix("the annotations", memory.annotations, dtype, {keys, memory.annotations.dim(1)});
  if (weights.hidden_bias.defined()) require_matrix("the bias", weights.hidden_bias, dtype, {gates});
  if (weights.v.defined()) require_matrix("v", weights.v, dtype, {asked});
  int64_t rows = 0;
  for (const AttentionSpan& span : layout.spans) {
    if (span.query_begin != rows || span.queries() < 0 || span.key_begin < 0 || span.keys() < 0 ||
        span.key_end > keys) {
      fail(ErrorKind::kShape, "{}: a sequence with queries [{}, {}) and keys [{}, {}) does not fit {} and {}",
           kOp, span.query_begin, span.query_end, span.key_begin, span.key_end,
           input_gates.shape().to_string(), memory.keys.shape().to_string());
    }
    rows = span.query_end;
  }
  if (rows != input_gates.dim(0)) {
    fail(ErrorKind::kShape, "{}: the sequences hold {} tokens of {}", kOp, rows,
         input_gates.shape().to_string());
  }
  return width;
}

TimeSteps steps_of(const AttentionLayout& layout) {
  std::vector<int32_t> offsets{0};
  for (const AttentionSpan& span : layout.spans) offsets.push_back(span.query_end);
  return {offsets, false};
}

/// For each row in steps, its keys and the position of its weights. Queries count within a step.
std::vector<AttentionSpan> spans_in_steps(const TimeSteps& steps, const AttentionLayout& layout) {
  std::vector<AttentionSpan> spans;
  for (int64_t t = 0; t < steps.count(); ++t) {
    for (int32_t n = 0; n < steps.live(t); ++n) {
      const AttentionSpan& whole = layout.spans[steps.sequences()[n]];
      spans.push_back({n, n + 1, whole.key_begin, whole.key_end, whole.pairs_begin + t * whole.keys()});
    }
  }
  return spans;
}

/// Saved by the forward pass for the backward pass, besides the states.
struct DecoderPass {
  RecurrentMemory memory;
  RecurrentDecoderWeights weights;
  RecurrentStart start;
  std::vector<AttentionSpan> spans;
  Unrolled unrolled;
  Tensor contexts;           // (N, C), in steps
  Tensor attention_weights;  // in the order of the layout

  bool additive() const { return weights.v.defined(); }
  /// Where the queries of a step begin among the columns of `hidden`.
  int64_t query_begin() const { return unrolled.gates.dim(1); }
};

template <typename T>
AdditiveAttentionArguments<T> attention_arguments(DecoderPass& pass, int64_t t) {
  Unrolled& u = pass.unrolled;
  const int64_t begin = u.steps.begin(t);
  return {.spans = pass.spans.data() + begin,
          .span_count = u.steps.live(t),
          .key_width = pass.memory.keys.dim(1),
          .value_width = pass.contexts.dim(1),
          .query = pass.additive() ? row_of<T>(u.hidden, begin) + pass.query_begin()
                                   : before<T>(u, u.initial, u.states, t),
          .key = pass.memory.keys.value().data<T>(),
          .value = pass.memory.annotations.value().data<T>(),
          .query_stride = pass.additive() ? u.hidden.dim(1) : u.width,
          .key_stride = pass.memory.keys.dim(1),
          .value_stride = pass.contexts.dim(1),
          .v = pass.additive() ? pass.weights.v.value().data<T>() : nullptr,
          .weights = pass.attention_weights.data<T>(),
          .context = row_of<T>(pass.contexts, begin),
          .context_stride = pass.contexts.dim(1)};
}

template <typename T>
void forward(DecoderPass& pass, bool training) {
  Unrolled& u = pass.unrolled;
  const Tensor &hidden = pass.weights.hidden.value(), &context = pass.weights.context.value();
  gather_initial<T>(u, pass.start.state, u.initial);
  gather_initial<T>(u, pass.start.cell, u.initial_cells);
  const int64_t gates = u.gates.dim(1);
  Tensor from_context = Tensor::empty({u.steps.count() > 0 ? u.steps.live(0) : 0, gates}, u.gates.dtype());
  for (int64_t t = 0; t < u.steps.count(); ++t) {
    const int64_t begin = u.steps.begin(t), live = u.steps.live(t);
    multiply(shape_of(u, live, hidden), before<T>(u, u.initial, u.states, t), hidden,
             training ? nullptr : pass.weights.packed_hidden, row_of<T>(u.hidden, begin));
    heed::additive_attention(attention_arguments<T>(pass, t));
    multiply(shape_of(u, live, context), row_of<T>(pass.contexts, begin), context,
             training ? nullptr : pass.weights.packed_context, from_context.data<T>());
    add_scaled(
        {.size = live * gates, .factor = T{1}, .x = from_context.data<T>(), .y = row_of<T>(u.gates, begin)});
    recurrent_cell(cell_arguments<T>(u, pass.weights.hidden_bias, t));
  }
}

/// Backpropagation through time; `g` has the gradients of the states, `dcontexts` those of the contexts, both
/// in steps.
template <typename T>
void backward(DecoderPass& pass, UnrolledGradients& g, Tensor& dcontexts) {
  Unrolled& u = pass.unrolled;
  const RecurrentDecoderWeights& weights = pass.weights;
  const Tensor &hidden = weights.hidden.value(), &context = weights.context.value();
  Tensor dkeys = accumulator_of(pass.memory.keys), dannotations = accumulator_of(pass.memory.annotations);
  Tensor dv = accumulator_of(weights.v), dcontext_weight = accumulator_of(weights.context);
  const auto data = [](Tensor& x) { return x.defined() ? x.data<T>() : nullptr; };
  for (int64_t t = u.steps.count() - 1; t >= 0; --t) {
    const int64_t begin = u.steps.begin(t), live = u.steps.live(t);
    T* dprevious = before<T>(u, g.initial, g.states, t);
    cell_backward<T>(u, g, weights.hidden_bias, t);
    input_gradient(shape_of(u, live, context), row_of<T>(g.gates, begin), context.data<T>(),
                   row_of<T>(dcontexts, begin), /*accumulate=*/true);
    additive_attention_backward(
        {.forward = attention_arguments<T>(pass, t),
         .dcontext = row_of<T>(dcontexts, begin),
         .dcontext_stride = dcontexts.dim(1),
         .dquery = pass.additive() ? row_of<T>(g.hidden, begin) + pass.query_begin() : dprevious,
         .dkey = data(dkeys),
         .dvalue = data(dannotations),
         .dv = data(dv),
         .dquery_stride = pass.additive() ? g.hidden.dim(1) : u.width,
         .dkey_stride = pass.memory.keys.dim(1),
         .dvalue_stride = pass.contexts.dim(1)});
    input_gradient(shape_of(u, live, hidden), row_of<T>(g.hidden, begin), hidden.data<T>(), dprevious,
                   /*accumulate=*/true);
  }
  if (dcontext_weight.defined()) {
    add_weight_gradient(shape_of(u, g.gates.dim(0), context), g.gates.data<T>(), pass.contexts.data<T>(),
                        dcontext_weight.data<T>());
  }
  add_weight_gradients<T>(u, g, weights.hidden, weights.hidden_bias);
  scatter_initial<T>(u, g.initial, pass.start.state);
  scatter_initial<T>(u, g.initial_cells, pass.start.cell);
}

}  // namespace

RecurrentDecoderOutput recurrent_decoder(const Var& input_gates, const RecurrentMemory& memory,
                                         const RecurrentDecoderWeights& weights,
                                         const AttentionLayout& layout, const RecurrentStart& start) {
  const int64_t width = require_fit(weights.cell, input_gates, memory, weights, layout);
  const auto sequences = static_cast<int64_t>(layout.spans.size());
  const DType dtype = input_gates.dtype();
  require_initial(kOp, start.state, sequences, width, dtype);
  require_initial(kOp, start.cell, sequences, width, dtype);
  TimeSteps steps = steps_of(layout);
  auto spans = spans_in_steps(steps, layout);
  const int64_t rows = steps.rows(), gates = input_gates.dim(1), annotation = memory.annotations.dim(1);
  const auto pass = std::make_shared<DecoderPass>(
      DecoderPass{memory, weights, start, std::move(spans),
                  Unrolled(weights.cell, std::move(steps), width, weights.hidden.dim(0), dtype),
                  Tensor::empty({rows, annotation}, dtype), Tensor::empty({layout.pairs()}, dtype)});
  Unrolled& u = pass->unrolled;
  u.precision = weights.precision;
  Tape* tape = tape_of(input_gates, memory.annotations, memory.keys, weights.hidden, weights.hidden_bias,
                       weights.context, weights.v, start.state.var, start.cell.var);
  const int64_t output_width = width + annotation;
  Tensor output = Tensor::empty({rows, output_width}, dtype);
  RecurrentDecoderOutput result;
  if (u.cells.defined()) result.cells = Tensor::empty({rows, width}, dtype);
  for_float_type(kOp, output, [&]<typename T>(T) {
    const std::vector<int32_t>& packed = u.steps.packed_rows();
    gather_rows<T>(packed, gates, {input_gates.value().data<T>(), gates}, {u.gates.data<T>(), gates});
    forward<T>(*pass, tape != nullptr);
    scatter_rows<T>(packed, width, {u.states.data<T>(), width}, {output.data<T>(), output_width});
    scatter_rows<T>(packed, annotation, {pass->contexts.data<T>(), annotation},
                    {output.data<T>() + width, output_width});
    if (u.cells.defined()) {
      scatter_rows<T>(packed, width, {u.cells.data<T>(), width}, {result.cells.data<T>(), width});
    }
  });
  result.output = output;
  result.weights = pass->attention_weights;
  if (tape == nullptr) return result;
  result.output = tape->record(output, [tape, pass, input_gates, output_width](const Tensor& upstream) {
    Unrolled& kept = pass->unrolled;
    UnrolledGradients g(kept);
    Tensor dcontexts = Tensor::empty(pass->contexts.shape(), upstream.dtype());
    for_float_type(kOp, upstream, [&]<typename T>(T) {
      const std::vector<int32_t>& packed = kept.steps.packed_rows();
      const int64_t state_width = kept.width, context_width = dcontexts.dim(1), gate_width = g.gates.dim(1);
      gather_rows<T>(packed, state_width, {upstream.data<T>(), output_width},
                     {g.states.data<T>(), state_width});
      gather_rows<T>(packed, context_width, {upstream.data<T>() + state_width, output_width},
                     {dcontexts.data<T>(), context_width});
      backward<T>(*pass, g, dcontexts);
      if (input_gates.wants_gradient()) {
        Tensor dgates = tape->accumulator(input_gates);
        scatter_add_rows<T>(packed, gate_width, {g.gates.data<T>(), gate_width},
                            {dgates.data<T>(), gate_width});
      }
    });
  });
  return result;
}

}  // namespace heed::ops
