#include "ops/recurrent/recurrent_attention.h"

#include "kernels/recurrent/additive_attention.h"
#include "ops/dispatch.h"
#include "ops/gradients.h"

namespace heed::ops {
namespace {

void require_fit(const Var& queries, const Var& keys, const Var& values, const Var& v,
                 const AttentionLayout& layout) {
  for (const Var* x : {&queries, &keys, &values}) {
    require_rows("recurrent_attention", x->value());
    require_same_type("recurrent_attention", queries.value(), x->value());
    if (x->shape().rank() != 2) {
      fail(ErrorKind::kShape, "recurrent_attention: a matrix is needed, not {}", x->shape().to_string());
    }
  }
  if (queries.dim(1) != keys.dim(1)) {
    fail(ErrorKind::kShape, "recurrent_attention: queries {} and keys {} must be equally wide",
         queries.shape().to_string(), keys.shape().to_string());
  }
  if (keys.dim(0) != values.dim(0)) {
    fail(ErrorKind::kShape, "recurrent_attention: there must be a value for every key: keys {} and values {}",
         keys.shape().to_string(), values.shape().to_string());
  }
  if (v.defined()) {
    require_same_type("recurrent_attention", queries.value(), v.value());
    require_contiguous("recurrent_attention", v.value());
    if (!(v.shape() == Shape{keys.dim(1)})) {
      fail(ErrorKind::kShape, "recurrent_attention: v must be ({}), as wide as the keys {}, not {}",
           keys.dim(1), keys.shape().to_string(), v.shape().to_string());
    }
  }
  int64_t asked = 0;
  for (const AttentionSpan& span : layout.spans) {
    if (span.query_begin != asked || span.key_begin < 0 || span.key_end > keys.dim(0)) {
      fail(ErrorKind::kShape,
           "recurrent_attention: a sequence with queries [{}, {}) and keys [{}, {}) does not fit queries {} "
           "and keys {}",
           span.query_begin, span.query_end, span.key_begin, span.key_end, queries.shape().to_string(),
           keys.shape().to_string());
    }
    asked = span.query_end;
  }
  if (asked != queries.dim(0)) {
    fail(ErrorKind::kShape, "recurrent_attention: the sequences hold {} queries of {}", asked,
         queries.shape().to_string());
  }
}

template <typename T>
AdditiveAttentionArguments<T> arguments_for(const Var& queries, const Var& keys, const Var& values,
                                            const Var& v, const AttentionLayout& layout) {
  return {.spans = layout.spans.data(),
          .span_count = static_cast<int64_t>(layout.spans.size()),
          .key_width = keys.dim(1),
          .value_width = values.dim(1),
          .query = queries.value().data<T>(),
          .key = keys.value().data<T>(),
          .value = values.value().data<T>(),
          .query_stride = queries.dim(1),
          .key_stride = keys.dim(1),
          .value_stride = values.dim(1),
          .v = v.defined() ? v.value().data<T>() : nullptr};
}

}  // namespace

RecurrentAttentionOutput recurrent_attention(const Var& queries, const Var& keys, const Var& values,
                                             const Var& v, const AttentionLayout& layout) {
  require_fit(queries, keys, values, v, layout);
  Tensor context = Tensor::empty({queries.dim(0), values.dim(1)}, queries.dtype());
  Tensor weights = Tensor::empty({layout.pairs()}, queries.dtype());
  for_float_type("recurrent_attention", context, [&]<typename T>(T) {
    auto arguments = arguments_for<T>(queries, keys, values, v, layout);
    arguments.weights = weights.data<T>();
    arguments.context = context.data<T>();
    arguments.context_stride = values.dim(1);
    heed::additive_attention(arguments);
  });
  Tape* tape = tape_of(queries, keys, values, v);
  if (tape == nullptr) return {context, weights};
  const Var recorded =
      tape->record(context, [tape, queries, keys, values, v, layout, weights](const Tensor& dcontext) {
        Tensor dkeys = accumulator_of(keys), dvalues = accumulator_of(values), dv = accumulator_of(v);
        Tensor kept = weights;
        Tensor dqueries = Tensor::zeros(queries.shape(), queries.dtype());
        for_float_type("recurrent_attention", dcontext, [&]<typename T>(T) {
          auto forward = arguments_for<T>(queries, keys, values, v, layout);
          forward.weights = kept.data<T>();
          const auto data = [](Tensor& x) { return x.defined() ? x.data<T>() : nullptr; };
          additive_attention_backward({.forward = forward,
                                       .dcontext = dcontext.data<T>(),
                                       .dcontext_stride = dcontext.dim(1),
                                       .dquery = dqueries.data<T>(),
                                       .dkey = data(dkeys),
                                       .dvalue = data(dvalues),
                                       .dv = data(dv),
                                       .dquery_stride = dqueries.dim(1),
                                       .dkey_stride = keys.dim(1),
                                       .dvalue_stride = values.dim(1)});
        });
        tape->add_gradient(queries, dqueries);
      });
  return {recorded, weights};
}

}  // namespace heed::ops
