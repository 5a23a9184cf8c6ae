#include "ops/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/gemm/gemm.h"
#include "kernels/reduction/softmax.h"
#include "ops/dispatch.h"
#include "ops/elementwise.h"
#include "ops/gradients.h"

namespace heed::ops {

AttentionLayout AttentionLayout::packed(const std::vector<int32_t>& query_offsets,
                                        const std::vector<int32_t>& key_offsets) {
  if (query_offsets.size() != key_offsets.size()) {
    fail(ErrorKind::kShape, "attention: {} sequences of queries for {} sequences of keys",
         query_offsets.empty() ? 0 : query_offsets.size() - 1,
         key_offsets.empty() ? 0 : key_offsets.size() - 1);
  }
  AttentionLayout layout;
  int64_t pairs = 0;
  for (size_t b = 0; b + 1 < query_offsets.size(); ++b) {
    const AttentionSpan span{query_offsets[b], query_offsets[b + 1], key_offsets[b], key_offsets[b + 1],
                             pairs};
    if (span.queries() < 0 || span.keys() < 0)
      fail(ErrorKind::kShape, "attention: offsets of sequences must not fall");
    pairs += span.queries() * span.keys();
    layout.spans.push_back(span);
  }
  return layout;
}

AttentionLayout AttentionLayout::padded(int64_t batch, int64_t queries, int64_t keys) {
  if (batch * std::max(queries, keys) > std::numeric_limits<int32_t>::max()) {
    fail(ErrorKind::kShape, "attention: a batch of {} sequences of {} is too large", batch,
         std::max(queries, keys));
  }
  std::vector<int32_t> query_offsets, key_offsets;
  for (int64_t b = 0; b <= batch; ++b) {
    query_offsets.push_back(static_cast<int32_t>(b * queries));
    key_offsets.push_back(static_cast<int32_t>(b * keys));
  }
  return packed(query_offsets, key_offsets);
}

int64_t AttentionLayout::pairs() const {
  return spans.empty() ? 0 : spans.back().pairs_begin + spans.back().queries() * spans.back().keys();
}

namespace {

void require_columns(const char* name, const Columns& columns, int heads) {
  if (heads < 1) fail(ErrorKind::kShape, "attention: the number of heads must be at least 1, not {}", heads);
  require_rows("attention", columns.var.value());
  if (columns.begin < 0 || columns.width <= 0 || columns.begin + columns.width > columns.var.dim(-1)) {
    fail(ErrorKind::kShape, "attention: columns [{}, {}) of {} lie outside {}", columns.begin,
         columns.begin + columns.width, name, columns.var.shape().to_string());
  }
  if (columns.width % heads != 0) {
    fail(ErrorKind::kShape, "attention: the width {} of {} cannot be divided among {} heads", columns.width,
         name, heads);
  }
}

void require_inside(const AttentionLayout& layout, const Columns& query, const Columns& key) {
  const int64_t queries = rows_of(query.var.value()), keys = rows_of(key.var.value());
  for (const AttentionSpan& span : layout.spans) {
    if (span.query_end > queries || span.key_end > keys) {
      fail(ErrorKind::kShape,
           "attention: a sequence with queries [{}, {}) and keys [{}, {}) lies outside query {} and key {}",
           span.query_begin, span.query_end, span.key_begin, span.key_end, query.var.shape().to_string(),
           key.var.shape().to_string());
    }
  }
}

/// The number of key-value heads. Throws if it does not divide the number of heads.
int key_value_heads_of(int heads, int key_value_heads) {
  if (key_value_heads == 0) return heads;
  if (key_value_heads < 0 || heads % key_value_heads != 0) {
    fail(ErrorKind::kShape, "attention: {} heads cannot share {} keys and values evenly", heads,
         key_value_heads);
  }
  return key_value_heads;
}

void require_window(const AttentionWindow& window) {
  if (window.left < 0 || window.right < 0) {
    fail(ErrorKind::kUsage, "attention: a window must not be negative, as [{}, {}] is", window.left,
         window.right);
  }
}

void require_operands(const AttentionOperands& x, const AttentionLayout& layout) {
  require_columns("query", x.query, x.heads);
  const int key_value_heads = key_value_heads_of(x.heads, x.key_value_heads);
  require_columns("key", x.key, key_value_heads);
  require_columns("value", x.value, key_value_heads);
  if (x.query.width / x.heads != x.key.width / key_value_heads) {
    fail(ErrorKind::kShape, "attention: query and key must be equally wide: {} of query {} and {} of key {}",
         x.query.width, x.query.var.shape().to_string(), x.key.width, x.key.var.shape().to_string());
  }
  if (rows_of(x.key.var.value()) != rows_of(x.value.var.value())) {
    fail(ErrorKind::kShape, "attention: there must be a value for every key: key {} and value {}",
         x.key.var.shape().to_string(), x.value.var.shape().to_string());
  }
  require_same_type("attention", x.query.var.value(), x.key.var.value());
  require_same_type("attention", x.query.var.value(), x.value.var.value());
  require_inside(layout, x.query, x.key);
  if (!(x.score_cap >= 0)) fail(ErrorKind::kUsage, "attention: the soft cap must not be {}", x.score_cap);
}

template <typename T>
T* first_column(Tensor& tensor, const Columns& columns) {
  return tensor.data<T>() + columns.begin;
}

template <typename T>
const T* first_column(const Columns& columns) {
  return columns.var.value().data<T>() + columns.begin;
}

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

/// The gradients of streaming attention.
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
                                          : var.tape()->room(var);
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

// ---- Streaming --------------------------------------------------------------------------------------------

Var streaming_attention(const AttentionOperands& x, const AttentionLayout& layout, bool causal,
                        const DropoutStream& dropout, const AttentionWindow& window) {
  require_operands(x, layout);
  require_window(window);
  const int64_t rows = rows_of(x.query.var.value());
  Tape* tape = tape_of(x.query.var, x.key.var, x.value.var);
  int64_t asking = 0;
  for (const AttentionSpan& span : layout.spans) asking += span.queries();
  // Rows that belong to no sequence are 0.
  const int64_t width = x.value.width / key_value_heads_of(x.heads, x.key_value_heads) * x.heads;
  const Shape shape{rows, width};
  Tensor mixed =
      asking == rows ? Tensor::empty(shape, x.query.var.dtype()) : Tensor::zeros(shape, x.query.var.dtype());
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

// ---- All weights -----------------------------------------------------------------------------------------

namespace {

/// visit(span, head, first weight of the span's head in the flat order)
template <typename Visit>
void for_each_head(const std::vector<AttentionSpan>& spans, int heads, const Visit& visit) {
  for (const AttentionSpan& span : spans) {
    for (int64_t head = 0; head < heads; ++head) {
      visit(span, head, heads * span.pairs_begin + head * span.queries() * span.keys());
    }
  }
}

Var scaled_products(const AttentionOperands& x, const AttentionLayout& layout) {
  const int64_t width = x.query.width / x.heads;
  const int64_t query_stride = x.query.var.dim(-1), key_stride = x.key.var.dim(-1);
  const int group = x.heads / key_value_heads_of(x.heads, x.key_value_heads);  // heads that share keys
  Tensor scores = Tensor::empty({x.heads * layout.pairs()}, x.query.var.dtype());
  for_float_type("attention", scores, [&]<typename T>(T) {
    for_each_head(layout.spans, x.heads, [&](const AttentionSpan& span, int64_t head, int64_t at) {
      // (Tq, d_k) (Tk, d_k)^T -> (Tq, Tk)
      gemm({.transpose_b = true,
            .m = span.queries(),
            .n = span.keys(),
            .k = width,
            .a = first_column<T>(x.query) + span.query_begin * query_stride + head * width,
            .a_stride = query_stride,
            .b = first_column<T>(x.key) + span.key_begin * key_stride + head / group * width,
            .b_stride = key_stride,
            .c = scores.data<T>() + at,
            .c_stride = span.keys(),
            .precision = x.precision});
    });
    T* s = scores.data<T>();
    for (int64_t i = 0; i < scores.size(); ++i) s[i] *= static_cast<T>(x.scale);
  });
  Tape* tape = tape_of(x.query.var, x.key.var);
  if (tape == nullptr) return scores;
  return tape->record(scores, [x, spans = layout.spans, width, query_stride, key_stride,
                               group](const Tensor& dscores) {
    Tensor scaled = dscores.clone(), dquery = accumulator_of(x.query.var), dkey = accumulator_of(x.key.var);
    for_float_type("attention", dscores, [&]<typename T>(T) {
      T* s = scaled.data<T>();
      for (int64_t i = 0; i < scaled.size(); ++i) s[i] *= static_cast<T>(x.scale);
      for_each_head(spans, x.heads, [&](const AttentionSpan& span, int64_t head, int64_t at) {
        const int64_t query_at = span.query_begin * query_stride + head * width;
        const int64_t key_at = span.key_begin * key_stride + head / group * width;
        if (dquery.defined()) {  // dQ = dS K
          gemm({.m = span.queries(),
                .n = width,
                .k = span.keys(),
                .a = scaled.data<T>() + at,
                .a_stride = span.keys(),
                .b = first_column<T>(x.key) + key_at,
                .b_stride = key_stride,
                .accumulate = true,
                .c = first_column<T>(dquery, x.query) + query_at,
                .c_stride = query_stride,
                .precision = x.precision});
        }
        if (dkey.defined()) {  // dK = dS^T Q
          gemm({.transpose_a = true,
                .m = span.keys(),
                .n = width,
                .k = span.queries(),
                .a = scaled.data<T>() + at,
                .a_stride = span.keys(),
                .b = first_column<T>(x.query) + query_at,
                .b_stride = query_stride,
                .accumulate = true,
                .c = first_column<T>(dkey, x.key) + key_at,
                .c_stride = key_stride,
                .precision = x.precision});
        }
      });
    });
  });
}

}  // namespace

Var attention_scores(const AttentionOperands& x, const AttentionLayout& layout) {
  require_operands(x, layout);
  const Var scores = scaled_products(x, layout);
  return x.score_cap > 0 ? soft_cap(scores, x.score_cap) : scores;
}

namespace {

/// The strides of a mask or bias (Tq, Tk), (H, Tq, Tk) or (B, H, Tq, Tk) over sequences and heads.
struct Broadcast {
  int64_t per_span = 0, per_head = 0;
};

Broadcast broadcast_of(const char* what, const Tensor& mask, const AttentionLayout& layout, int heads) {
  const Shape& shape = mask.shape();
  const int rank = shape.rank();
  const auto batch = static_cast<int64_t>(layout.spans.size());
  bool fits = rank >= 2 && rank <= 4 && mask.is_contiguous();
  if (fits && rank >= 3) fits = shape[-3] == heads || shape[-3] == 1;
  if (fits && rank == 4) fits = shape[0] == batch || shape[0] == 1;
  for (const AttentionSpan& span : layout.spans) {
    fits = fits && shape[-2] == span.queries() && shape[-1] == span.keys();
  }
  if (!fits) {
    const AttentionSpan first = layout.spans.empty() ? AttentionSpan{} : layout.spans.front();
    fail(ErrorKind::kShape,
         "attention: a {} of {} does not fit scores of (B {}, H {}, Tq {}, Tk {}); it may be (Tq, Tk), (H, "
         "Tq, Tk) or "
         "(B, H, Tq, Tk), for sequences of one length",
         what, shape.to_string(), batch, heads, first.queries(), first.keys());
  }
  Broadcast steps;
  const int64_t matrix = shape[-2] * shape[-1];
  if (rank >= 3 && shape[-3] > 1) steps.per_head = matrix;
  if (rank == 4 && shape[0] > 1) steps.per_span = matrix * shape[1];
  return steps;
}

/// Combines look-ahead mask, window, padding and general mask to (Tq, Tk).
void fill_visible(const AttentionSpan& span, const AttentionMask& mask, const uint8_t* general,
                  uint8_t* visible) {
  const uint8_t* keys =
      mask.key_visible.defined() ? mask.key_visible.data<uint8_t>() + span.key_begin : nullptr;
  for (int64_t q = 0; q < span.queries(); ++q) {
    const int64_t first = span.first_key(mask.window, q), end = span.end_key(mask.causal, mask.window, q);
    for (int64_t k = 0; k < span.keys(); ++k) {
      const int64_t at = q * span.keys() + k;
      bool seen = k >= first && k < end;
      if (keys != nullptr) seen = seen && keys[k] != 0;
      if (general != nullptr) seen = seen && general[at] != 0;
      visible[at] = seen ? 1 : 0;
    }
  }
}

}  // namespace

Var attention_softmax(const Var& scores, const AttentionLayout& layout, int heads,
                      const AttentionMask& mask) {
  if (scores.value().size() != heads * layout.pairs()) {
    fail(ErrorKind::kShape, "attention: scores of {} are not {} heads times {} pairs of query and key",
         scores.shape().to_string(), heads, layout.pairs());
  }
  require_contiguous("attention", scores.value());
  if (mask.key_visible.defined()) require_contiguous("attention", mask.key_visible);
  if (mask.bias.defined()) require_same_type("attention", scores.value(), mask.bias.value());
  if (mask.key_visible.defined() && !layout.spans.empty() &&
      mask.key_visible.size() < layout.spans.back().key_end) {
    fail(ErrorKind::kShape, "attention: a padding mask of {} for {} keys",
         mask.key_visible.shape().to_string(), layout.spans.back().key_end);
  }
  Broadcast visible_steps, bias_steps;
  if (mask.visible.defined()) visible_steps = broadcast_of("mask", mask.visible, layout, heads);
  if (mask.bias.defined()) bias_steps = broadcast_of("bias", mask.bias.value(), layout, heads);
  require_window(mask.window);
  const bool windowed = std::ranges::any_of(
      layout.spans, [&](const AttentionSpan& span) { return !span.fits_in(mask.causal, mask.window); });
  const bool masked = mask.causal || windowed || mask.key_visible.defined() || mask.visible.defined();

  Tensor weights = Tensor::empty(scores.shape(), scores.dtype());
  Tensor visible;
  for_float_type("attention", weights, [&]<typename T>(T) {
    for_each_head(layout.spans, heads, [&](const AttentionSpan& span, int64_t head, int64_t at) {
      const int64_t b = &span - layout.spans.data();
      if (masked) {
        const int64_t general_at = b * visible_steps.per_span + head * visible_steps.per_head;
        visible = Tensor::empty({span.queries(), span.keys()}, DType::kUInt8);
        fill_visible(span, mask, mask.visible.defined() ? mask.visible.data<uint8_t>() + general_at : nullptr,
                     visible.data<uint8_t>());
      }
      masked_softmax({.rows = span.queries(),
                      .columns = span.keys(),
                      .scores = scores.value().data<T>() + at,
                      .bias = mask.bias.defined() ? mask.bias.value().data<T>() + b * bias_steps.per_span +
                                                        head * bias_steps.per_head
                                                  : nullptr,
                      .visible = masked ? visible.data<uint8_t>() : nullptr,
                      .bias_stride = span.keys(),
                      .visible_stride = span.keys(),
                      .weights = weights.data<T>() + at});
    });
  });
  Tape* tape = tape_of(scores, mask.bias);
  if (tape == nullptr) return weights;
  return tape->record(
      weights, [tape, scores, weights, layout, heads, bias = mask.bias, bias_steps](const Tensor& dweights) {
        Tensor dscores = Tensor::empty(weights.shape(), weights.dtype());
        Tensor dbias = accumulator_of(bias);
        for_float_type("attention", dscores, [&]<typename T>(T) {
          for_each_head(layout.spans, heads, [&](const AttentionSpan& span, int64_t head, int64_t at) {
            softmax_backward({.rows = span.queries(),
                              .columns = span.keys(),
                              .weights = weights.data<T>() + at,
                              .dweights = dweights.data<T>() + at,
                              .dscores = dscores.data<T>() + at});
            if (dbias.defined()) {
              const int64_t b = &span - layout.spans.data();
              T* sum = dbias.data<T>() + b * bias_steps.per_span + head * bias_steps.per_head;
              const T* ds = dscores.data<T>() + at;
              for (int64_t i = 0; i < span.queries() * span.keys(); ++i) sum[i] += ds[i];
            }
          });
        });
        tape->add_gradient(scores, dscores);
      });
}

Var attention_mix(const Var& weights, const AttentionOperands& operands, const AttentionLayout& layout) {
  const Columns& value = operands.value;
  const int heads = operands.heads;
  const MatmulPrecision precision = operands.precision;
  const int group = heads / key_value_heads_of(heads, operands.key_value_heads);  // heads that share values
  require_columns("value", value, heads / group);
  require_same_type("attention", weights.value(), value.var.value());
  require_contiguous("attention", weights.value());
  if (weights.value().size() != heads * layout.pairs()) {
    fail(ErrorKind::kShape, "attention: weights of {} are not {} heads times {} pairs of query and key",
         weights.shape().to_string(), heads, layout.pairs());
  }
  if (!layout.spans.empty() && layout.spans.back().key_end > rows_of(value.var.value())) {
    fail(ErrorKind::kShape, "attention: {} keys, but values of {}", layout.spans.back().key_end,
         value.var.shape().to_string());
  }
  const int64_t width = value.width / (heads / group), value_stride = value.var.dim(-1);
  const int64_t mixed_stride = width * heads;
  const int64_t rows = layout.spans.empty() ? 0 : layout.spans.back().query_end;
  Tensor mixed = Tensor::zeros({rows, mixed_stride}, weights.dtype());
  for_float_type("attention", mixed, [&]<typename T>(T) {
    for_each_head(layout.spans, heads, [&](const AttentionSpan& span, int64_t head, int64_t at) {
      // (Tq, Tk) (Tk, d_v) -> (Tq, d_v)
      gemm({.m = span.queries(),
            .n = width,
            .k = span.keys(),
            .a = weights.value().data<T>() + at,
            .a_stride = span.keys(),
            .b = first_column<T>(value) + span.key_begin * value_stride + head / group * width,
            .b_stride = value_stride,
            .c = mixed.data<T>() + span.query_begin * mixed_stride + head * width,
            .c_stride = mixed_stride,
            .precision = precision});
    });
  });
  Tape* tape = tape_of(weights, value.var);
  if (tape == nullptr) return mixed;
  return tape->record(mixed, [tape, weights, value, layout, heads, precision, group, width, value_stride,
                              mixed_stride](const Tensor& dmixed) {
    Tensor dweights = Tensor::empty(weights.shape(), weights.dtype()), dvalue = accumulator_of(value.var);
    for_float_type("attention", dmixed, [&]<typename T>(T) {
      for_each_head(layout.spans, heads, [&](const AttentionSpan& span, int64_t head, int64_t at) {
        const T* upstream = dmixed.data<T>() + span.query_begin * mixed_stride + head * width;
        const int64_t value_at = span.key_begin * value_stride + head / group * width;
        gemm({.transpose_b = true,
              .m = span.queries(),
              .n = span.keys(),
              .k = width,
              .a = upstream,
              .a_stride = mixed_stride,
              .b = first_column<T>(value) + value_at,
              .b_stride = value_stride,
              .c = dweights.data<T>() + at,
              .c_stride = span.keys(),
              .precision = precision});
        if (dvalue.defined()) {  // dV = P^T dO
          gemm({.transpose_a = true,
                .m = span.keys(),
                .n = width,
                .k = span.queries(),
                .a = weights.value().data<T>() + at,
                .a_stride = span.keys(),
                .b = upstream,
                .b_stride = mixed_stride,
                .accumulate = true,
                .c = first_column<T>(dvalue, value) + value_at,
                .c_stride = value_stride,
                .precision = precision});
        }
      });
    });
    tape->add_gradient(weights, dweights);
  });
}

}  // namespace heed::ops
