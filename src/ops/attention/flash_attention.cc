// flash_attention(): the fused kernel (kernels/attention/attention.h) as an op.
#include <algorithm>
#include <utility>

#include "ops/attention/attention_operands.h"
#include "ops/dispatch.h"

namespace heed::ops {
namespace {

/// Whether every row of queries and of keys belongs to a span.
bool divide_rows(const std::vector<AttentionSpan>& spans, const AttentionOperands& x) {
  int64_t queries = 0, keys = 0;
  for (const AttentionSpan& span : spans) {
    if (span.query_begin != queries || span.key_begin != keys) return false;
    queries = span.query_end, keys = span.key_end;
  }
  return queries == rows_of(x.query.var.value()) && keys == rows_of(x.key.var.value());
}

/// Whether the operands cover every column of a variable.
bool divide_columns(const AttentionOperands& x, const Var& var) {
  std::vector<std::pair<int64_t, int64_t>> parts;  // where they begin and end
  for (const Columns* columns : {&x.query, &x.key, &x.value}) {
    if (columns->var.is_same_as(var)) parts.emplace_back(columns->begin, columns->begin + columns->width);
  }
  std::sort(parts.begin(), parts.end());
  int64_t divided = 0;
  for (const auto& [begin, end] : parts) {
    if (begin != divided) return false;
    divided = end;
  }
  return divided == var.dim(-1);
}

/// Where the backward pass writes the gradients of the operands.
struct AttentionGradients {
  /// The gradient of one operand; for a constant, scratch memory, since the kernel computes all three.
  struct Operand {
    Tensor sum;
    bool add;  ///< false: every element is written
  };
  Operand query, key, value;

  AttentionGradients(const AttentionOperands& x, const std::vector<AttentionSpan>& spans) {
    const bool all_rows = divide_rows(spans, x) && key_value_heads_of(x.heads, x.key_value_heads) == x.heads;
    const auto adds = [&](const Columns& columns) {
      const Var& var = columns.var;
      return !all_rows || !divide_columns(x, var) || !var.wants_gradient() ||
             var.tape()->gradient(var).defined();
    };
    query.add = adds(x.query), key.add = adds(x.key), value.add = adds(x.value);
    const auto take = [](const Columns& columns, Operand& operand) {
      const Var& var = columns.var;
      operand.sum = !var.wants_gradient() ? Tensor::zeros(var.shape(), var.dtype())
                    : operand.add         ? var.tape()->accumulator(var)
                                          : var.tape()->gradient_buffer(var);
    };
    take(x.query, query), take(x.key, key), take(x.value, value);
  }
};

template <typename T>
AttentionArguments<T> arguments_for(const AttentionOperands& x, const std::vector<AttentionSpan>& spans,
                                    bool causal, const DropoutStream& dropout,
                                    const AttentionWindow& window) {
  return {.spans = spans.data(),
          .span_count = static_cast<int64_t>(spans.size()),
          .heads = x.heads,
          .key_value_heads = x.key_value_heads,
          .key_width = x.query.width / x.heads,
          .value_width = x.value.width / key_value_heads_of(x.heads, x.key_value_heads),
          .scale = static_cast<T>(x.scale),
          .causal = causal,
          .window = window,
          .score_cap = static_cast<T>(x.score_cap),
          .dropout = dropout,
          .query = first_column<T>(x.query),
          .key = first_column<T>(x.key),
          .value = first_column<T>(x.value),
          .query_stride = x.query.var.dim(-1),
          .key_stride = x.key.var.dim(-1),
          .value_stride = x.value.var.dim(-1)};
}

}  // namespace

Var flash_attention(const AttentionOperands& x, const AttentionLayout& layout, bool causal,
                    const DropoutStream& dropout, const AttentionWindow& window) {
  require_operands(x, layout);
  require_window(window);
  const int64_t rows = rows_of(x.query.var.value());
  Tape* tape = tape_of(x.query.var, x.key.var, x.value.var);
  int64_t queries = 0;
  for (const AttentionSpan& span : layout.spans) queries += span.queries();
  // Rows that belong to no sequence are 0.
  const int64_t width = x.value.width / key_value_heads_of(x.heads, x.key_value_heads) * x.heads;
  const Shape shape{rows, width};
  Tensor mixed =
      queries == rows ? Tensor::empty(shape, x.query.var.dtype()) : Tensor::zeros(shape, x.query.var.dtype());
  Tensor log_sum_exp;
  if (tape != nullptr) log_sum_exp = Tensor::empty({rows, x.heads}, mixed.dtype());
  for_float_type("attention", mixed, [&]<typename T>(T) {
    auto arguments = arguments_for<T>(x, layout.spans, causal, dropout, window);
    arguments.output = mixed.data<T>();
    arguments.output_stride = width;
    arguments.log_sum_exp = log_sum_exp.defined() ? log_sum_exp.data<T>() : nullptr;
    heed::attention(arguments);
  });
  if (tape == nullptr) return mixed;
  return tape->record(mixed, [x, spans = layout.spans, causal, dropout, window, mixed, log_sum_exp,
                              width](const Tensor& dmixed) {
    AttentionGradients gradients(x, spans);
    for_float_type("attention", dmixed, [&]<typename T>(T) {
      auto forward = arguments_for<T>(x, spans, causal, dropout, window);
      Tensor output = mixed, lse = log_sum_exp;
      forward.output = output.data<T>();
      forward.output_stride = width;
      forward.log_sum_exp = lse.data<T>();
      attention_backward({.forward = forward,
                          .doutput = dmixed.data<T>(),
                          .doutput_stride = width,
                          .dquery = first_column<T>(gradients.query.sum, x.query),
                          .dkey = first_column<T>(gradients.key.sum, x.key),
                          .dvalue = first_column<T>(gradients.value.sum, x.value),
                          .dquery_stride = forward.query_stride,
                          .dkey_stride = forward.key_stride,
                          .dvalue_stride = forward.value_stride,
                          .add_to_dquery = gradients.query.add,
                          .add_to_dkey = gradients.key.add,
                          .add_to_dvalue = gradients.value.add});
    });
  });
}

}  // namespace heed::ops
