#include "nn/encoder.h"

#include "ops/elementwise.h"

namespace heed::nn {

Residual::Residual(ParameterTable& table, const std::string& norm_name, const LayerOptions& options)
    : norm_(table, norm_name, options.width, {options.norm, options.norm_epsilon}),
      norm_first_(options.norm_first),
      dropout_(options.dropout) {}

Var Residual::add(Context& context, const Var& x, const Var& y) const {
  return ops::add_dropout(x, y, context.next_dropout(dropout_));
}

MultiHeadAttention::Options attention_options(const LayerOptions& options, const AttentionPlace& place,
                                              const MultiHeadAttention::Names& names) {
  return {.width = options.width,
          .heads = options.heads,
          .head_width = options.head_width,
          .key_value_heads = options.key_value_heads,
          .scale = options.attention_scale,
          .bias = options.attention_bias,
          .dropout = options.attention_dropout,
          .place = place,
          .names = names,
          .relative = options.relative};
}

FeedForward::Options feed_forward_options(const LayerOptions& options) {
  return {.width = options.width,
          .inner_width = options.inner_width,
          .activation = options.activation,
          .activation_dropout = options.activation_dropout,
          .bias = options.feed_forward_bias};
}

namespace {

FeedForward::Options named(FeedForward::Options options, const EncoderLayerNames& names) {
  options.first_name = names.first;
  options.second_name = names.second;
  return options;
}

}  // namespace

EncoderLayer::EncoderLayer(ParameterTable& table, const std::string& prefix, const LayerOptions& options,
                           int layer, const EncoderLayerNames& names)
    : self_attention_(table, prefix,
                      attention_options(options, {AttentionStack::kEncoder, layer}, names.attention)),
      self_attention_residual_(table, prefix + names.attention_norm, options),
      feed_forward_(table, prefix, named(feed_forward_options(options), names)),
      feed_forward_residual_(table, prefix + names.feed_forward_norm, options) {}

Var EncoderLayer::forward(Context& context, const Var& x, const ops::AttentionLayout& layout,
                          const ops::AttentionMask& mask, const ops::RotaryAngles* angles) const {
  const Var attended = self_attention_residual_.forward(context, x, [&](const Var& y) {
    return self_attention_.forward_self(context, y, layout, mask, {.angles = angles});  // (N, D)
  });
  return feed_forward_residual_.forward(context, attended,
                                        [&](const Var& y) { return feed_forward_.forward(context, y); });
}

}  // namespace heed::nn
