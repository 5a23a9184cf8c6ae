// The layer of a decoder-only Transformer (Radford et al., "Improving language understanding by generative
// pre-training", 2018): the decoder's layer without a memory to look at.
#pragma once

#include <string>

#include "nn/encoder.h"

namespace heed::nn {

/// What its parameters are called, behind the layer's prefix.
struct DecoderOnlyNames {
  MultiHeadAttention::Names attention = {};
  std::string attention_norm = {};
  std::string gate = {}, first = {}, second = {};  ///< of the feed-forward network; no gate without a name
  std::string feed_forward_norm = {};
};

/// Masked self-attention, then the feed-forward network.
class DecoderOnlyLayer {
 public:
  DecoderOnlyLayer(ParameterTable& table, const std::string& prefix, const LayerOptions& options, int layer,
                   const DecoderOnlyNames& names);

  /// All positions at once: x (N, D) -> (N, D).
  Var forward(Context& context, const Var& x, const ops::AttentionLayout& layout,
              const SelfAttentionExtras& extras) const;
  /// One position of each hypothesis: x (R, D) -> (R, D).
  Var step(Context& context, const Var& x, KeyValueCache& cache, const StepLayout& steps,
           const ops::RotaryAngles* angles) const;

  int64_t key_value_width() const { return attention_.key_value_width(); }

 private:
  /// The column that forward() and step() share; they differ in how they attend.
  template <typename Attend>
  Var column(Context& context, const Var& x, const Attend& attend) const;

  MultiHeadAttention attention_;
  Residual attention_residual_;
  FeedForward feed_forward_;
  Residual feed_forward_residual_;
};

}  // namespace heed::nn
