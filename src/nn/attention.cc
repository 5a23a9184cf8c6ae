// Multi-head attention: each token of one sequence (query) takes a weighted average over the tokens of
// another, or of the same (keys and values).
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
// Shapes assume the default options. With others, the width of the queries is H d_k, and that of keys and
// values G d_k with G key-value heads (grouped-query attention).
//
// A head is a logical split. One product computes the queries of all heads, and head h is the columns
// [h d_k, (h + 1) d_k) of its result: nothing is copied to split the heads, nor to merge them again.

#include "nn/attention.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "nn/norms/norm.h"
#include "ops/attention/decode_attention.h"
#include "ops/elementwise.h"
#include "ops/scale.h"

namespace heed::nn {

MultiHeadAttention::MultiHeadAttention(ParameterTable& table, const std::string& prefix,
                                       const Options& options)
    : options_(options) {
  const int64_t width = options_.width;
  const Names& names = options_.names;
  if (options_.head_width == 0) {
    if (options_.heads < 1 || width < 1 || width % options_.heads != 0) {
      fail(ErrorKind::kShape, "attention: d_model {} cannot be divided among {} heads", width,
           options_.heads);
    }
    options_.head_width = width / options_.heads;
  }
  if (options_.key_value_heads == 0) options_.key_value_heads = options_.heads;
  if (options_.heads < 1 || options_.key_value_heads < 1 || options_.heads % options_.key_value_heads != 0) {
    fail(ErrorKind::kShape, "attention: {} heads cannot share {} keys and values evenly", options_.heads,
         options_.key_value_heads);
  }
  if (options_.key_width == 0) options_.key_width = width;
  if (options_.value_width == 0) options_.value_width = width;
  const bool bias = options_.bias;
  joined_ = options_.key_width == width && options_.value_width == width;
  if (!names.joined.empty()) {
    HEED_CHECK(joined_);
    query_key_value_ =
        Linear(table, prefix + names.joined, width, query_width() + 2 * key_value_width(), bias);
  } else if (joined_) {
    query_key_value_ = Linear::join_outputs(table,
                                            {{prefix + names.query, query_width()},
                                             {prefix + names.key, key_value_width()},
                                             {prefix + names.value, key_value_width()}},
                                            width, bias);
    key_value_ = query_key_value_.slice(table, 1, 2);
    query_ = query_key_value_.slice(table, 0);
    key_ = query_key_value_.slice(table, 1);
    value_ = query_key_value_.slice(table, 2);
  } else {
    query_ = Linear(table, prefix + names.query, width, query_width(), bias);
    key_ = Linear(table, prefix + names.key, options_.key_width, key_value_width(), bias);
    value_ = Linear(table, prefix + names.value, options_.value_width, key_value_width(), bias);
  }
  output_ = Linear(table, prefix + names.output, query_width(), width, bias && options_.output_bias);
  if (names.query_norm.empty()) return;
  HEED_CHECK(joined_);
  const double offset = options_.head_norm.weight_offset;
  query_norm_ = rms_weight(table, prefix + names.query_norm, options_.head_width, offset);
  key_norm_ = rms_weight(table, prefix + names.key_norm, options_.head_width, offset);
}

Var MultiHeadAttention::forward(Context& context, const AttentionInputs& inputs,
                                const ops::AttentionLayout& layout, const ops::AttentionMask& mask) const {
  const auto& [query, key, value] = inputs;
  if (joined_ && query.is_same_as(key) && key.is_same_as(value)) {
    return forward_self(context, query, layout, mask);
  }
  // Project queries, keys and values; self-attention and equal keys and values need fewer products.
  const ops::Columns queries{query_.forward(context, query), 0, query_width()};  // (Nq, D) -> (Nq, D)
  ops::AttentionOperands operands;
  if (joined_ && key.is_same_as(value)) {
    const Var both = key_value_.forward(context, key);  // (Nk, D) -> (Nk, 2 D)
    operands = split_heads(context, queries, {both, 0, key_value_width()},
                           {both, key_value_width(), key_value_width()});
  } else {
    const Var keys = key_.forward(context, key);        // (Nk, key width) -> (Nk, D)
    const Var values = value_.forward(context, value);  // (Nk, value width) -> (Nk, D)
    operands = split_heads(context, queries, {keys, 0, key_value_width()}, {values, 0, key_value_width()});
  }
  const Var mixed = mix(context, operands, layout, mask);  // (Nq, D)
  return merge_heads(context, mixed);                      // (Nq, D)
}

Var MultiHeadAttention::forward_self(Context& context, const Var& x, const ops::AttentionLayout& layout,
                                     const ops::AttentionMask& mask,
                                     const SelfAttentionExtras& extras) const {
  const Var all = project_self(context, x, extras.angles);  // (N, D) -> (N, 3 D)
  if (extras.cache != nullptr) keep(all.value(), *extras.cache, extras.cache_rows);
  ops::AttentionMask windowed = mask;
  windowed.window = options_.window;
  const Var mixed = mix(context, split_self(context, all), layout, windowed);  // (N, D)
  return merge_heads(context, mixed);                                          // (N, D)
}

Var MultiHeadAttention::project_self(Context& context, const Var& x, const ops::RotaryAngles* angles) const {
  const int64_t first_key = query_width(), first_value = first_key + key_value_width();  // columns
  Var all = query_key_value_.forward(context, x);                                        // (N, D) -> (N, 3 D)
  if (query_norm_.defined()) {
    const ops::NormedHeads query_heads{0, query_width(), context.parameter(query_norm_)};
    const ops::NormedHeads key_heads{first_key, key_value_width(), context.parameter(key_norm_)};
    all = ops::rms_norm_heads(all, {query_heads, key_heads}, options_.head_norm);
  }
  return angles == nullptr ? all : ops::rotate(all, first_value, *angles);
}

/// Score, mask, softmax, mix.
Var MultiHeadAttention::mix(Context& context, const ops::AttentionOperands& operands,
                            const ops::AttentionLayout& layout, const ops::AttentionMask& mask) const {
  const int heads = options_.heads;
  const DropoutStream dropout = context.next_dropout(options_.dropout);
  const bool observed = context.sink != nullptr && context.sink->wants(options_.layer_id);

  // No sink wants the weights, so they are not materialized: online softmax over blocks of keys.
  if (!observed && mask.only_causal() && !options_.relative.defined()) {
    return ops::flash_attention(operands, layout, mask.causal, dropout, mask.window);  // (Nq, D)
  }

  const RelativePositions& relative = options_.relative;
  Var scores = ops::attention_scores(operands, layout);                     // B times (H, Tq, Tk)
  scores = relative.add_to_scores(context, scores, operands, layout);       // the same
  const Var weights = ops::attention_softmax(scores, layout, heads, mask);  // B times (H, Tq, Tk)
  if (observed) report(context, operands, {layout, mask}, scores.value(), weights);
  const Var kept = ops::dropout(weights, dropout);               // B times (H, Tq, Tk)
  const Var mixed = ops::attention_mix(kept, operands, layout);  // (Nq, D)
  return relative.add_to_mix(context, {kept, mixed, context.precision}, layout, heads);  // (Nq, D)
}

/// Tells the sink the weights and, if it wants to know, how they come about.
void MultiHeadAttention::report(Context& context, const ops::AttentionOperands& operands,
                                const Visible& visible, const Tensor& scores, const Var& weights) const {
  const auto& [layout, mask] = visible;
  if (context.sink->wants_operands()) {
    AttentionScores told{.scores = scores, .visible = ops::visible_keys(layout, options_.heads, mask)};
    if (options_.relative.defined()) {
      const Tensor none = Tensor::zeros(scores.shape(), scores.dtype());
      told.bias = options_.relative.add_to_scores(context, none, operands, layout).value();
    }
    context.sink->receive_operands(options_.layer_id, operands, told, layout);
  }
  context.sink->receive(options_.layer_id, weights, layout, options_.heads);
}

/// W_o. The outputs of the heads are already concatenated: head h is columns [h d_k, (h + 1) d_k) of `mixed`.
/// Heads that are ablated or scaled (nn/head_scales.h) are multiplied by their factor first.
Var MultiHeadAttention::merge_heads(Context& context, Var mixed) const {
  if (context.head_scales != nullptr) {
    const std::vector<float> factors = context.head_scales->of(options_.layer_id, options_.heads);
    if (!factors.empty()) mixed = ops::scale_heads(mixed, factors);
  }
  return output_.forward(context, context.pass(heads_id(), std::move(mixed)));  // (N, D)
}

/// A state belongs to a stack of layers, so that of cross-attention to the decoder.
StateId MultiHeadAttention::heads_id() const {
  const bool cross = options_.layer_id.stack == Stack::kCross;
  return {cross ? Stack::kDecoder : options_.layer_id.stack, StateKind::kHeads, options_.layer_id.layer,
          cross ? SubLayer::kCrossAttention : SubLayer::kSelfAttention, options_.heads};
}

/// The dot product of two vectors of d_k numbers of variance 1 has standard deviation sqrt(d_k). Dividing by
/// it keeps the softmax from saturating, where its gradient vanishes.
double MultiHeadAttention::scale() const {
  return options_.scale != 0 ? options_.scale : 1 / std::sqrt(static_cast<double>(options_.head_width));
}

ops::AttentionOperands MultiHeadAttention::split_heads(const Context& context, const ops::Columns& query,
                                                       const ops::Columns& key,
                                                       const ops::Columns& value) const {
  return {query,
          key,
          value,
          options_.heads,
          scale(),
          options_.key_value_heads,
          context.precision,
          options_.score_cap};
}

ops::AttentionOperands MultiHeadAttention::split_self(const Context& context, const Var& all) const {
  const int64_t first_key = query_width(), first_value = first_key + key_value_width();  // columns
  return split_heads(context, {all, 0, query_width()}, {all, first_key, key_value_width()},
                     {all, first_value, key_value_width()});
}

// ---- One position at a time, for decoding -----------------------------------------------------------------

Var MultiHeadAttention::step(Context& context, const Var& x, KeyValueCache& cache, const StepLayout& steps,
                             const ops::RotaryAngles* angles) const {
  const Var all = project_self(context, x, angles);  // (R, D) -> (R, 3 D)
  keep(all.value(), cache, steps.new_rows);          // keys and values of the new position
  if (options_.relative.defined()) {
    return merge_heads(context, mix_with_distances(context, all, cache, steps));  // (R, D)
  }
  const ops::AttentionOperands operands =
      split_heads(context, {all, 0, query_width()}, {cache.keys, 0, key_value_width()},
                  {cache.values, 0, key_value_width()});
  return merge_heads(context, mix_cached(operands, steps));  // (R, D)
}

Var MultiHeadAttention::project_memory(Context& context, const Var& memory) const {
  return key_value_.forward(context, memory);  // (N, D) -> (N, 2 D)
}

Var MultiHeadAttention::step_cross(Context& context, const Var& x, const Tensor& memory_keys_values,
                                   const StepLayout& steps) const {
  const Var queries = query_.forward(context, x);  // (R, D)
  const ops::AttentionOperands operands =
      split_heads(context, {queries, 0, query_width()}, {memory_keys_values, 0, key_value_width()},
                  {memory_keys_values, key_value_width(), key_value_width()});
  return merge_heads(context, mix_cached(operands, steps));  // (R, D)
}

void MultiHeadAttention::keep(const Tensor& projected, KeyValueCache& cache,
                              std::span<const int32_t> rows) const {
  const int64_t width = key_value_width();
  for (int64_t n = 0; n < projected.dim(0); ++n) {
    const float* key = projected.data<float>() + n * projected.dim(1) + query_width();
    put_row(key, cache.keys, rows[n]);
    put_row(key + width, cache.values, rows[n]);
  }
}

/// Keys and values are rows anywhere in the cache.
Tensor MultiHeadAttention::mix_cached(const ops::AttentionOperands& operands, const StepLayout& steps) const {
  return ops::decode_attention(operands, {steps.spans, steps.key_rows, options_.window});
}

/// As mix_cached(), with relative positions, which need the weights: gathers the rows that each query attends
/// to.
Tensor MultiHeadAttention::mix_with_distances(Context& context, const Var& query, const KeyValueCache& cache,
                                              const StepLayout& steps) const {
  const int64_t width = key_value_width(), rows = static_cast<int64_t>(steps.key_rows.size());
  Tensor keys = Tensor::empty({rows, width}), values = Tensor::empty({rows, width});
  for (int64_t n = 0; n < rows; ++n) {
    take_row(cache.keys, steps.key_rows[n], keys.data<float>() + n * width);
    take_row(cache.values, steps.key_rows[n], values.data<float>() + n * width);
  }
  ops::AttentionLayout layout{steps.spans};
  int64_t pairs = 0;
  for (AttentionSpan& span : layout.spans) {
    span.pairs_begin = pairs;
    pairs += span.queries() * span.keys();
  }
  return mix(context, split_heads(context, {query, 0, query_width()}, {keys, 0, width}, {values, 0, width}),
             layout, {.window = options_.window})
      .value();  // (R, D)
}

}  // namespace heed::nn
