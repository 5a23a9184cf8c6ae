// Multi-head attention: every position of one sequence asks, every position of another answers.
//
//   MultiHead(Q, K, V) = Concat(head_1, ..., head_H) W_o
//   head_h = softmax(Q_h K_h^T / sqrt(d_k) + mask) V_h,     Q_h, K_h, V_h: the columns of head h in
//                                                           Q W_q, K W_k and V W_v
//
// Vaswani et al., "Attention is all you need" (2017), section 3.2. In the comments:
//
//   B sequences   N rows: the tokens of all sequences, one after the other, without padding
//   T length      D width of the model   H heads   d_k = D / H, width of a head
//
// A head is a logical split. One product makes the queries of all heads, and head h is the columns
// [h d_k, (h + 1) d_k) of its result: nothing is copied to split the heads, nor to merge them again.

#include "nn/attention.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "ops/elementwise.h"

namespace heed::nn {

MultiHeadAttention::MultiHeadAttention(ParameterTable& table, const std::string& prefix,
                                       const Options& options)
    : options_(options) {
  if (options_.key_width == 0) options_.key_width = options_.width;
  if (options_.value_width == 0) options_.value_width = options_.width;
  const auto& [width, heads, key_width, value_width, bias, dropout, place, names] = options_;
  if (heads < 1 || width < 1 || width % heads != 0) {
    fail(ErrorKind::kShape, "attention: d_model {} cannot be divided among {} heads", width, heads);
  }
  joined_ = key_width == width && value_width == width;
  if (joined_) {
    query_key_value_ = Linear::join(table, {prefix + names.query, prefix + names.key, prefix + names.value},
                                    width, width, bias);
    key_value_ = query_key_value_.part(1, 2);
    query_ = query_key_value_.part(0);
    key_ = query_key_value_.part(1);
    value_ = query_key_value_.part(2);
  } else {
    query_ = Linear(table, prefix + names.query, width, width, bias);
    key_ = Linear(table, prefix + names.key, key_width, width, bias);
    value_ = Linear(table, prefix + names.value, value_width, width, bias);
  }
  output_ = Linear(table, prefix + names.output, width, width, bias);
}

Var MultiHeadAttention::forward(Context& context, const Var& query, const Var& key, const Var& value,
                                const ops::AttentionLayout& layout, const ops::AttentionMask& mask) const {
  const int64_t width = options_.width;

  // Project: what each token asks for, what it offers to be found by, and what it gives.
  ops::AttentionOperands operands;
  if (joined_ && query.is_same_as(key) && key.is_same_as(value)) {
    const Var all = query_key_value_.forward(context, query);  // (N, D) -> (N, 3 D)
    operands = split_heads({all, 0, width}, {all, width, width}, {all, 2 * width, width});
  } else if (joined_ && key.is_same_as(value)) {
    const Var asked = query_.forward(context, query);      // (Nq, D) -> (Nq, D)
    const Var offered = key_value_.forward(context, key);  // (Nk, D) -> (Nk, 2 D)
    operands = split_heads({asked, 0, width}, {offered, 0, width}, {offered, width, width});
  } else {
    operands = split_heads({query_.forward(context, query), 0, width},   // (Nq, D) -> (Nq, D)
                           {key_.forward(context, key), 0, width},       // (Nk, key width) -> (Nk, D)
                           {value_.forward(context, value), 0, width});  // (Nk, value width) -> (Nk, D)
  }

  const Var mixed = mix(context, operands, layout, mask);  // (Nq, D)
  return output_.forward(context, mixed);                  // (Nq, D)
}

/// Score, mask, softmax, mix.
Var MultiHeadAttention::mix(Context& context, const ops::AttentionOperands& operands,
                            const ops::AttentionLayout& layout, const ops::AttentionMask& mask) const {
  const int heads = options_.heads;
  const DropoutStream dropout = context.next_dropout(options_.dropout);

  // Nobody looks at the weights, so they need not exist: the same sums, block by block of keys.
  if (context.sink == nullptr && mask.only_causal()) {
    return ops::streaming_attention(operands, layout, mask.causal, dropout);  // (Nq, D)
  }

  const Var scores = ops::attention_scores(operands, layout);               // B times (H, Tq, Tk)
  const Var weights = ops::attention_softmax(scores, layout, heads, mask);  // B times (H, Tq, Tk)
  if (context.sink != nullptr) context.sink->receive(options_.place, weights.value(), layout, heads);
  return ops::attention_mix(ops::dropout(weights, dropout), operands.value, layout, heads);  // (Nq, D)
}

/// Dot products of vectors of width d_k have a standard deviation that grows with sqrt(d_k); dividing by it
/// keeps the softmax away from where it is flat.
ops::AttentionOperands MultiHeadAttention::split_heads(const ops::Columns& query, const ops::Columns& key,
                                                       const ops::Columns& value) const {
  const double head_width = static_cast<double>(options_.width / options_.heads);
  return {query, key, value, options_.heads, 1 / std::sqrt(head_width)};
}

// ---- One position at a time, for decoding -----------------------------------------------------------------

namespace {

/// streaming_attention() over rows that lie anywhere.
Tensor mix_rows(const Tensor& query, int64_t query_stride, const Tensor& keys, const Tensor& values,
                int64_t width, int heads, const StepLayout& steps) {
  Tensor mixed = Tensor::empty({query.dim(0), width});
  AttentionArguments<float> arguments;
  arguments.spans = steps.spans.data();
  arguments.span_count = static_cast<int64_t>(steps.spans.size());
  arguments.heads = heads;
  arguments.key_width = arguments.value_width = width / heads;
  arguments.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(width / heads)));
  arguments.query = query.data<float>();
  arguments.query_stride = query_stride;
  arguments.key = keys.data<float>();
  arguments.key_stride = keys.stride(0);
  arguments.value = values.data<float>();
  arguments.value_stride = values.stride(0);
  arguments.key_rows = steps.key_rows.empty() ? nullptr : steps.key_rows.data();
  arguments.output = mixed.data<float>();
  arguments.output_stride = width;
  heed::attention(arguments);
  return mixed;
}

}  // namespace

Var MultiHeadAttention::step(Context& context, const Var& x, KeyValueCache& cache,
                             const StepLayout& steps) const {
  const int64_t width = options_.width;
  const Tensor all = query_key_value_.forward(context, x).value();  // (R, D) -> (R, 3 D)
  for (int64_t r = 0; r < all.dim(0); ++r) {                        // extend the state
    const float* row = all.data<float>() + r * 3 * width;
    std::copy_n(row + width, width, cache.keys.data<float>() + steps.new_rows[r] * width);
    std::copy_n(row + 2 * width, width, cache.values.data<float>() + steps.new_rows[r] * width);
  }
  const Tensor mixed =
      mix_rows(all, 3 * width, cache.keys, cache.values, width, options_.heads, steps);  // (R, D)
  return output_.forward(context, mixed);                                                // (R, D)
}

Var MultiHeadAttention::project_memory(Context& context, const Var& memory) const {
  return key_value_.forward(context, memory);  // (N, D) -> (N, 2 D)
}

Var MultiHeadAttention::step_cross(Context& context, const Var& x, const Tensor& memory_keys_values,
                                   const StepLayout& steps) const {
  const int64_t width = options_.width;
  const Tensor asked = query_.forward(context, x).value();                                  // (R, D)
  const Tensor keys = memory_keys_values.narrow(1, 0, width);                               // (N, D)
  const Tensor values = memory_keys_values.narrow(1, width, width);                         // (N, D)
  const Tensor mixed = mix_rows(asked, width, keys, values, width, options_.heads, steps);  // (R, D)
  return output_.forward(context, mixed);                                                   // (R, D)
}

}  // namespace heed::nn
