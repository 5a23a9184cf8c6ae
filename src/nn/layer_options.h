// The options of a Transformer layer, by which encoder layers, decoder layers and the layers of decoder-only
// models differ, and the names of its parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nn/attention.h"
#include "nn/feed_forward.h"
#include "nn/norms/norm.h"

namespace heed::nn {

/// The names of a sub-layer's norms, after the layer's prefix; a norm without a name is not there.
struct NormNames {
  std::string norm{};  ///< before or after the sub-layer: LayerOptions::norm_first
  std::string
      output_norm{};  ///< sandwich norm, with norm_first: of the sub-layer's output, before it is added
};

/// The names of a layer's parameters, after the layer's prefix. The defaults are Marian's.
struct LayerNames {
  MultiHeadAttention::Names self_attention{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                           "self_attn.out_proj"};
  NormNames self_attention_norm{"self_attn_layer_norm"};
  MultiHeadAttention::Names cross_attention{"encoder_attn.q_proj", "encoder_attn.k_proj",
                                            "encoder_attn.v_proj", "encoder_attn.out_proj"};
  NormNames cross_attention_norm{"encoder_attn_layer_norm"};
  std::string gate{}, first = "fc1", second = "fc2";  ///< of the feed-forward network; no gate without a name
  bool gate_in_first = false;  ///< `first` is one matrix of the gate and the first layer, in this order
  NormNames feed_forward_norm{"final_layer_norm"};
};

/// The options of all layers of a stack. The defaults are those of an encoder layer.
struct LayerOptions {
  Stack stack = Stack::kEncoder;  ///< reported to attention sinks
  bool causal = false;            ///< self-attention is masked: no token attends to later ones
  bool cross_attention = false;   ///< a second attention, to the encoder output

  int64_t width = 512;         ///< D
  int heads = 8;               ///< H
  int64_t inner_width = 2048;  ///< F
  Activation activation = Activation::kRelu;
  /// The position of a sub-layer's norm. False: post-norm, norm(x + f(x)), as in the paper. True: pre-norm,
  /// x + f(norm(x)) (Xiong et al., 2020), which needs one more norm after the last layer.
  bool norm_first = false;
  double dropout = 0.1;                                 ///< of the output of each sub-layer
  std::optional<double> attention_output_dropout{};     ///< instead, of the output of attention
  std::optional<double> feed_forward_output_dropout{};  ///< instead, of that of the feed-forward network
  double attention_dropout = 0;                         ///< of attention weights
  double activation_dropout = 0;                        ///< inside the feed-forward network
  double norm_epsilon = 1e-5;                           ///< added to the variance by the norms
  NormKind norm = NormKind::kLayer;
  bool norm_bias = true;          ///< of layer norms
  double norm_weight_offset = 0;  ///< added to the weights of RMS norms: 1 in Gemma

  // -- Of attention.
  int64_t head_width = 0;      ///< d_k; 0: D / H
  int key_value_heads = 0;     ///< grouped-query attention: heads of keys and values; 0: as many as heads
  double attention_scale = 0;  ///< of the scores; 0: 1 / sqrt(d_k)
  double score_cap = 0;        ///< soft cap of the scores; 0: none
  bool attention_bias = true;  ///< in the linear layers of attention
  bool attention_output_bias = true;  ///< with `attention_bias`: also in that of the output
  AttentionWindow window{};           ///< of self-attention
  RelativePositions relative{};       ///< of self-attention

  bool feed_forward_bias = true;
};

}  // namespace heed::nn
