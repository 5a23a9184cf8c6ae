// The layer of a Transformer (Vaswani et al., 2017, figure 1): self-attention, cross-attention where there is
// an encoder output to attend to, and the feed-forward network, each with a residual connection and a norm.
//
//                                  self-attention   cross-attention
//   encoder (BERT, Marian)         everything       no
//   decoder (Marian)               causal           yes
//   decoder-only (GPT-2, Llama)    causal           no
#pragma once

#include <string>

#include "nn/layer_options.h"
#include "nn/norms/residual.h"

namespace heed::nn {

/// What a layer keeps between the steps of a search.
struct LayerState {
  KeyValueCache self;
  Tensor memory_keys_values;  ///< with cross-attention: (rows, 2 D)
};

class TransformerLayer {
 public:
  /// Registers all parameters under `prefix`, e.g. "model.encoder.layers.0.". `layer` is its index in the
  /// stack, which is reported to attention sinks.
  TransformerLayer(ParameterTable& table, const std::string& prefix, const LayerOptions& options, int layer,
                   const LayerNames& names = {});

  /// The encoder output and which of its rows each query attends to.
  struct Memory {
    const Var& states;  ///< (Ns, D)
    const ops::AttentionLayout& layout;
  };
  /// All positions at once, as in training and for a prompt: x (N, D) -> (N, D). `memory` is for layers with
  /// cross-attention, and null for others.
  Var forward(Context& context, const Var& x, const ops::AttentionLayout& layout,
              const SelfAttentionExtras& extras = {}, const Memory* memory = nullptr) const;

  /// One position of each hypothesis.
  struct Steps {
    const StepLayout& self;
    const StepLayout* cross = nullptr;          ///< of layers with cross-attention
    const ops::RotaryAngles* angles = nullptr;  ///< with rotary positions
  };
  /// x (R, D) -> (R, D)
  Var step(Context& context, const Var& x, LayerState& state, const Steps& steps) const;

  /// The keys and values of cross-attention, which step() needs: (Ns, D) -> (Ns, 2 D).
  Var project_memory(Context& context, const Var& memory) const;
  /// Of a row of self-attention's keys, and of one of its values.
  int64_t key_value_width() const { return self_attention_.key_value_width(); }

 private:
  /// The sequence of sub-layers, which forward() and step() share; they differ in how they attend.
  template <typename SelfAttend, typename CrossAttend>
  Var sub_layers(Context& context, const Var& x, const SelfAttend& self_attend,
                 const CrossAttend& cross_attend) const;

  bool causal_ = false, has_cross_attention_ = false;
  MultiHeadAttention self_attention_;
  Residual self_attention_residual_;
  MultiHeadAttention cross_attention_;
  Residual cross_attention_residual_;
  FeedForward feed_forward_;
  Residual feed_forward_residual_;
};

}  // namespace heed::nn
