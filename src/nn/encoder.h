// The layers of a Transformer (Vaswani et al., 2017, figure 1).
#pragma once

#include <string>

#include "nn/attention.h"
#include "nn/feed_forward.h"
#include "nn/norm.h"

namespace heed::nn {

/// What all layers of a stack have in common.
struct LayerOptions {
  int64_t width = 512;         ///< D
  int heads = 8;               ///< H
  int64_t inner_width = 2048;  ///< F
  Activation activation = Activation::kRelu;
  /// Where the norm of a sub-layer f is: after, norm(x + f(x)), as in the paper; or before, x + f(norm(x))
  /// (Xiong et al., 2020), which needs one more norm behind the last layer.
  bool norm_first = false;
  double dropout = 0.1;           ///< of what a sub-layer adds to the residual
  double attention_dropout = 0;   ///< of attention weights
  double activation_dropout = 0;  ///< inside the feed-forward network
  double norm_epsilon = 1e-5;     ///< added to the variance by the norms
  NormKind norm = NormKind::kLayer;

  // -- Of attention.
  int64_t head_width = 0;      ///< d_k; 0: the heads share the width
  int key_value_heads = 0;     ///< heads share keys and values in so many groups; 0: none
  double attention_scale = 0;  ///< of the scores; 0: 1 / sqrt(d_k)
  bool attention_bias = true;  ///< in its linear layers

  RelativePositions relative{};  ///< of self-attention

  bool feed_forward_bias = true;
};

/// What these options say of self-attention and of the feed-forward network.
MultiHeadAttention::Options attention_options(const LayerOptions& options, const AttentionPlace& place,
                                              const MultiHeadAttention::Names& names = {});
FeedForward::Options feed_forward_options(const LayerOptions& options);

/// The wiring that every sub-layer has: residual, dropout and norm.
class Residual {
 public:
  Residual() = default;
  Residual(ParameterTable& table, const std::string& norm_name, const LayerOptions& options);
  /// norm(x + dropout(sub_layer(x))), or x + dropout(sub_layer(norm(x)))
  template <typename SubLayer>
  Var forward(Context& context, const Var& x, const SubLayer& sub_layer) const {
    if (norm_first_) return add(context, x, sub_layer(norm_.forward(context, x)));
    return norm_.forward(context, add(context, x, sub_layer(x)));
  }

 private:
  Var add(Context& context, const Var& x, const Var& y) const;
  Norm norm_;
  bool norm_first_ = false;
  double dropout_ = 0;
};

/// What the parameters of an encoder layer are called, behind the layer's prefix; by default as Marian does.
struct EncoderLayerNames {
  MultiHeadAttention::Names attention{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                      "self_attn.out_proj"};
  std::string attention_norm = "self_attn_layer_norm";
  std::string first = "fc1", second = "fc2";  ///< of the feed-forward network
  std::string feed_forward_norm = "final_layer_norm";
};

/// Self-attention, then the feed-forward network.
class EncoderLayer {
 public:
  /// Registers everything under `prefix`, e.g. "model.encoder.layers.0.".
  EncoderLayer(ParameterTable& table, const std::string& prefix, const LayerOptions& options, int layer,
               const EncoderLayerNames& names = {});
  /// x (N, D) -> (N, D); with rotary positions, `angles` of the rows.
  Var forward(Context& context, const Var& x, const ops::AttentionLayout& layout,
              const ops::AttentionMask& mask, const ops::RotaryAngles* angles = nullptr) const;

 private:
  MultiHeadAttention self_attention_;
  Residual self_attention_residual_;
  FeedForward feed_forward_;
  Residual feed_forward_residual_;
};

}  // namespace heed::nn
