// Attention with materialized weights: scores, softmax, mix. flash_attention.cc is the fused op.
#include "ops/attention/attention.h"

#include "kernels/gemm/gemm.h"
#include "kernels/reduction/softmax.h"
#include "ops/attention/attention_operands.h"
#include "ops/dispatch.h"
#include "ops/elementwise.h"
#include "ops/gradients.h"

namespace heed::ops {
namespace {

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
         "Tq, Tk) or (B, H, Tq, Tk), for sequences of one length",
         what, shape.to_string(), batch, heads, first.queries(), first.keys());
  }
  Broadcast steps;
  const int64_t matrix = shape[-2] * shape[-1];
  if (rank >= 3 && shape[-3] > 1) steps.per_head = matrix;
  if (rank == 4 && shape[0] > 1) steps.per_span = matrix * shape[1];
  return steps;
}

/// Look-ahead mask, window, padding and general mask as one.
class CombinedMask {
 public:
  CombinedMask(const AttentionLayout& layout, int heads, const AttentionMask& mask)
      : layout_(layout), mask_(mask) {
    if (mask.key_visible.defined()) require_contiguous("attention", mask.key_visible);
    if (mask.key_visible.defined() && !layout.spans.empty() &&
        mask.key_visible.size() < layout.spans.back().key_end) {
      fail(ErrorKind::kShape, "attention: a padding mask of {} for {} keys",
           mask.key_visible.shape().to_string(), layout.spans.back().key_end);
    }
    if (mask.visible.defined()) steps_ = broadcast_of("mask", mask.visible, layout, heads);
    require_window(mask.window);
    const bool windowed = std::ranges::any_of(
        layout.spans, [&](const AttentionSpan& span) { return !span.fits_in(mask.causal, mask.window); });
    may_hide_ = mask.causal || windowed || mask.key_visible.defined() || mask.visible.defined();
  }

  bool may_hide() const { return may_hide_; }

  /// What queries of the span see in a head: (Tq, Tk).
  void fill(const AttentionSpan& span, int64_t head, uint8_t* visible) const {
    const int64_t b = &span - layout_.spans.data();
    const uint8_t* keys =
        mask_.key_visible.defined() ? mask_.key_visible.data<uint8_t>() + span.key_begin : nullptr;
    const uint8_t* general =
        mask_.visible.defined() ? mask_.visible.data<uint8_t>() + b * steps_.per_span + head * steps_.per_head
                                : nullptr;
    for (int64_t q = 0; q < span.queries(); ++q) {
      const int64_t first = span.first_key(mask_.window, q);
      const int64_t end = span.end_key(mask_.causal, mask_.window, q);
      for (int64_t k = 0; k < span.keys(); ++k) {
        const int64_t at = q * span.keys() + k;
        bool seen = k >= first && k < end;
        if (keys != nullptr) seen = seen && keys[k] != 0;
        if (general != nullptr) seen = seen && general[at] != 0;
        visible[at] = seen ? 1 : 0;
      }
    }
  }

 private:
  const AttentionLayout& layout_;
  const AttentionMask& mask_;
  Broadcast steps_;
  bool may_hide_ = false;
};

}  // namespace

Tensor visible_keys(const AttentionLayout& layout, int heads, const AttentionMask& mask) {
  const CombinedMask combined(layout, heads, mask);
  if (!combined.may_hide()) return {};
  Tensor visible = Tensor::empty({heads * layout.pairs()}, DType::kUInt8);
  for_each_head(layout.spans, heads, [&](const AttentionSpan& span, int64_t head, int64_t at) {
    combined.fill(span, head, visible.data<uint8_t>() + at);  // (Tq, Tk)
  });
  return visible;
}

Var attention_softmax(const Var& scores, const AttentionLayout& layout, int heads,
                      const AttentionMask& mask) {
  require_weights("attention", "scores", scores.value(), layout, heads);
  if (mask.bias.defined()) require_same_type("attention", scores.value(), mask.bias.value());
  const CombinedMask combined(layout, heads, mask);
  const bool masked = combined.may_hide();
  Broadcast bias_steps;
  if (mask.bias.defined()) bias_steps = broadcast_of("bias", mask.bias.value(), layout, heads);

  Tensor weights = Tensor::empty(scores.shape(), scores.dtype());
  Tensor visible;
  for_float_type("attention", weights, [&]<typename T>(T) {
    for_each_head(layout.spans, heads, [&](const AttentionSpan& span, int64_t head, int64_t at) {
      const int64_t b = &span - layout.spans.data();
      if (masked) {
        visible = Tensor::empty({span.queries(), span.keys()}, DType::kUInt8);
        combined.fill(span, head, visible.data<uint8_t>());
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
  require_weights("attention", "weights", weights.value(), layout, heads);
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
