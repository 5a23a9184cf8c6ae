// The decoder layer of a Transformer (Vaswani et al., 2017, figure 1).
#pragma once

#include <string>

#include "nn/encoder.h"

namespace heed::nn {

/// What a layer keeps between the steps of a search.
struct DecoderLayerState {
  KeyValueCache self;
  Tensor memory_keys_values;  ///< (rows, 2 D)
};

/// Masked self-attention, attention to the memory, then the feed-forward network.
class DecoderLayer {
 public:
  DecoderLayer(ParameterTable& table, const std::string& prefix, const LayerOptions& options, int layer);

  /// All positions at once, as in training: x (Nt, D), memory (Ns, D) -> (Nt, D). The mask of `self` is to be
  /// causal.
  struct Masks {
    const ops::AttentionLayout& self;
    const ops::AttentionMask& self_mask;
    const ops::AttentionLayout& cross;
    const ops::AttentionMask& cross_mask;
    const ops::RotaryAngles* angles = nullptr;  ///< of the rows, with rotary positions
  };
  Var forward(Context& context, const Var& x, const Var& memory, const Masks& masks) const;

  /// One position of each hypothesis: x (R, D) -> (R, D).
  struct Steps {
    const StepLayout& self;
    const StepLayout& cross;
    const ops::RotaryAngles* angles = nullptr;  ///< as above
  };
  Var step(Context& context, const Var& x, DecoderLayerState& state, const Steps& steps) const;

  /// What step() needs of a memory: (N, D) -> (N, 2 D).
  Var project_memory(Context& context, const Var& memory) const;

 private:
  /// The column that forward() and step() share; they differ in how they attend.
  template <typename SelfAttend, typename CrossAttend>
  Var column(Context& context, const Var& x, const SelfAttend& self_attend,
             const CrossAttend& cross_attend) const;

  MultiHeadAttention self_attention_;
  Residual self_attention_residual_;
  MultiHeadAttention cross_attention_;
  Residual cross_attention_residual_;
  FeedForward feed_forward_;
  Residual feed_forward_residual_;
};

}  // namespace heed::nn
