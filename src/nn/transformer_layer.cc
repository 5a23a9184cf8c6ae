#include "nn/transformer_layer.h"

#include "base/check.h"

namespace heed::nn {
namespace {

MultiHeadAttention::Options attention_options(const LayerOptions& options, const AttentionLayerId& id,
                                              const MultiHeadAttention::Names& names) {
  return {.width = options.width,
          .heads = options.heads,
          .head_width = options.head_width,
          .key_value_heads = options.key_value_heads,
          .scale = options.attention_scale,
          .score_cap = options.score_cap,
          .bias = options.attention_bias,
          .output_bias = options.attention_output_bias,
          .dropout = options.attention_dropout,
          .layer_id = id,
          .names = names,
          .window = options.window,
          .relative = options.relative,
          .head_norm = {.epsilon = options.norm_epsilon, .weight_offset = options.norm_weight_offset}};
}

/// Distances between positions of different sequences have no meaning, so cross-attention has no relative
/// positions and no window.
MultiHeadAttention::Options cross_attention_options(const LayerOptions& options, int layer,
                                                    const MultiHeadAttention::Names& names) {
  MultiHeadAttention::Options cross = attention_options(options, {Stack::kCross, layer}, names);
  cross.relative = {};
  cross.window = {};
  return cross;
}

FeedForward::Options feed_forward_options(const LayerOptions& options, const LayerNames& names) {
  return {.width = options.width,
          .inner_width = options.inner_width,
          .activation = options.activation,
          .activation_dropout = options.activation_dropout,
          .first_name = names.first,
          .second_name = names.second,
          .gate_name = names.gate,
          .gate_in_first = names.gate_in_first,
          .bias = options.feed_forward_bias};
}

}  // namespace

TransformerLayer::TransformerLayer(ParameterTable& table, const std::string& prefix,
                                   const LayerOptions& options, int layer, const LayerNames& names)
    : causal_(options.causal), has_cross_attention_(options.cross_attention) {
  self_attention_ = MultiHeadAttention(
      table, prefix, attention_options(options, {options.stack, layer}, names.self_attention));
  LayerOptions attention = options, feed_forward = options;
  attention.dropout = options.attention_output_dropout.value_or(options.dropout);
  feed_forward.dropout = options.feed_forward_output_dropout.value_or(options.dropout);
  self_attention_residual_ =
      Residual(table, prefix, names.self_attention_norm, attention, {layer, SubLayer::kSelfAttention});
  if (has_cross_attention_) {
    cross_attention_ =
        MultiHeadAttention(table, prefix, cross_attention_options(options, layer, names.cross_attention));
    cross_attention_residual_ =
        Residual(table, prefix, names.cross_attention_norm, attention, {layer, SubLayer::kCrossAttention});
  }
  feed_forward_ = FeedForward(table, prefix, feed_forward_options(options, names));
  feed_forward_residual_ =
      Residual(table, prefix, names.feed_forward_norm, feed_forward, {layer, SubLayer::kFeedForward});
}

template <typename SelfAttend, typename CrossAttend>
Var TransformerLayer::sub_layers(Context& context, const Var& x, const SelfAttend& self_attend,
                                 const CrossAttend& cross_attend) const {
  Var y = self_attention_residual_.forward(context, x, self_attend);
  if (has_cross_attention_) y = cross_attention_residual_.forward(context, y, cross_attend);
  return feed_forward_residual_.forward(context, y,
                                        [&](const Var& z) { return feed_forward_.forward(context, z); });
}

Var TransformerLayer::forward(Context& context, const Var& x, const ops::AttentionLayout& layout,
                              const SelfAttentionExtras& extras, const Memory* memory) const {
  HEED_CHECK(has_cross_attention_ == (memory != nullptr));
  const ops::AttentionMask mask{.causal = causal_};
  return sub_layers(
      context, x,
      [&](const Var& y) { return self_attention_.forward_self(context, y, layout, mask, extras); },
      [&](const Var& y) {
        return cross_attention_.forward(context, {y, memory->states, memory->states}, memory->layout, {});
      });
}

Var TransformerLayer::step(Context& context, const Var& x, LayerState& state, const Steps& steps) const {
  HEED_CHECK(has_cross_attention_ == (steps.cross != nullptr));
  return sub_layers(
      context, x,
      [&](const Var& y) { return self_attention_.step(context, y, state.self, steps.self, steps.angles); },
      [&](const Var& y) {
        return cross_attention_.step_cross(context, y, state.memory_keys_values, *steps.cross);
      });
}

Var TransformerLayer::project_memory(Context& context, const Var& memory) const {
  HEED_CHECK(has_cross_attention_);
  return cross_attention_.project_memory(context, memory);
}

}  // namespace heed::nn
