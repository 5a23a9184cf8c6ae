#include "nn/decoder_only.h"

namespace heed::nn {
namespace {

FeedForward::Options named(FeedForward::Options options, const DecoderOnlyNames& names) {
  options.gate_name = names.gate;
  options.first_name = names.first;
  options.second_name = names.second;
  return options;
}

}  // namespace

DecoderOnlyLayer::DecoderOnlyLayer(ParameterTable& table, const std::string& prefix,
                                   const LayerOptions& options, int layer, const DecoderOnlyNames& names)
    : attention_(table, prefix,
                 attention_options(options, {AttentionStack::kDecoder, layer}, names.attention)),
      attention_residual_(table, prefix + names.attention_norm, options),
      feed_forward_(table, prefix, named(feed_forward_options(options), names)),
      feed_forward_residual_(table, prefix + names.feed_forward_norm, options) {}

template <typename Attend>
Var DecoderOnlyLayer::column(Context& context, const Var& x, const Attend& attend) const {
  const Var looked_back = attention_residual_.forward(context, x, attend);
  return feed_forward_residual_.forward(context, looked_back,
                                        [&](const Var& y) { return feed_forward_.forward(context, y); });
}

Var DecoderOnlyLayer::forward(Context& context, const Var& x, const ops::AttentionLayout& layout,
                              const SelfAttentionExtras& extras) const {
  const ops::AttentionMask look_ahead{.causal = true};
  return column(context, x, [&](const Var& y) {
    return attention_.forward_self(context, y, layout, look_ahead, extras);
  });
}

Var DecoderOnlyLayer::step(Context& context, const Var& x, KeyValueCache& cache, const StepLayout& steps,
                           const ops::RotaryAngles* angles) const {
  return column(context, x, [&](const Var& y) { return attention_.step(context, y, cache, steps, angles); });
}

}  // namespace heed::nn
