#include "nn/decoder.h"

namespace heed::nn {

namespace {

/// Distances between words of two languages say nothing.
MultiHeadAttention::Options without_positions(MultiHeadAttention::Options options) {
  options.relative = {};
  return options;
}

}  // namespace

DecoderLayer::DecoderLayer(ParameterTable& table, const std::string& prefix, const LayerOptions& options,
                           int layer)
    : self_attention_(table, prefix + "self_attn.",
                      attention_options(options, {AttentionStack::kDecoder, layer})),
      self_attention_residual_(table, prefix + "self_attn_layer_norm", options),
      cross_attention_(table, prefix + "encoder_attn.",
                       without_positions(attention_options(options, {AttentionStack::kCross, layer}))),
      cross_attention_residual_(table, prefix + "encoder_attn_layer_norm", options),
      feed_forward_(table, prefix, feed_forward_options(options)),
      feed_forward_residual_(table, prefix + "final_layer_norm", options) {}

template <typename SelfAttend, typename CrossAttend>
Var DecoderLayer::column(Context& context, const Var& x, const SelfAttend& self_attend,
                         const CrossAttend& cross_attend) const {
  const Var looked_back = self_attention_residual_.forward(context, x, self_attend);
  const Var looked_across = cross_attention_residual_.forward(context, looked_back, cross_attend);
  return feed_forward_residual_.forward(context, looked_across,
                                        [&](const Var& y) { return feed_forward_.forward(context, y); });
}

Var DecoderLayer::forward(Context& context, const Var& x, const Var& memory, const Masks& masks) const {
  return column(
      context, x,
      [&](const Var& y) {
        return self_attention_.forward_self(context, y, masks.self, masks.self_mask,
                                            {.angles = masks.angles});
      },
      [&](const Var& y) {
        return cross_attention_.forward(context, y, memory, memory, masks.cross, masks.cross_mask);
      });
}

Var DecoderLayer::step(Context& context, const Var& x, DecoderLayerState& state, const Steps& steps) const {
  return column(
      context, x,
      [&](const Var& y) { return self_attention_.step(context, y, state.self, steps.self, steps.angles); },
      [&](const Var& y) {
        return cross_attention_.step_cross(context, y, state.memory_keys_values, steps.cross);
      });
}

Var DecoderLayer::project_memory(Context& context, const Var& memory) const {
  return cross_attention_.project_memory(context, memory);
}

}  // namespace heed::nn
