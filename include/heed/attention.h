// Attention (Vaswani et al., "Attention is all you need", 2017): functions, and the multi-head attention
// layer.
//
//   Attention(Q, K, V, M) = softmax(Q K^T / sqrt(d_k) + M) V
//   MultiHead(Q, K, V)    = Concat(head_1, ..., head_H) W_o
//   head_h                = Attention of the columns of head h in Q W_q, K W_k, V W_v
//
// Symbols: B sentences, T tokens per padded sentence (Tq queries, Tk keys), N tokens in total in packed
// batches without padding, model width D, H heads, head width d_k = D / H. All functions throw heed::Error
// for invalid shapes and options.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heed/positions.h"
#include "heed/tensor.h"

namespace heed {

/// uint8 (B, max_length): 1 for the tokens of each sentence, 0 for the padding after them.
Tensor padding_mask(const std::vector<int64_t>& lengths, int64_t max_length);
/// uint8 (T, T): 1 on and below the diagonal, so that a position attends to itself and preceding positions.
Tensor look_ahead_mask(int64_t length);

/// Masks and outputs. A key is visible if all masks allow it. Masked keys have weight 0; if all keys of a
/// query are masked, all its weights are 0. Values of masked keys have to be finite, as 0 times NaN is NaN.
struct AttentionOptions {
  /// uint8 (B, Tk): 1 for tokens, 0 for keys masked for all queries of the sentence.
  Tensor padding{};
  /// Causal mask: queries see no later keys. The last query is aligned with the last key.
  bool look_ahead = false;
  /// uint8, 1 visible, 0 masked: (Tq, Tk) for all, (H, Tq, Tk) or (B, H, Tq, Tk), where B and H may be 1. For
  /// queries without heads (B, Tq, d_k): (B, Tq, Tk).
  Tensor mask{};
  /// Added to the scores; has their type, and the same shapes as `mask`.
  Tensor bias{};
  /// Return the weights. Without, they are not materialized if possible.
  bool weights = false;
};

struct AttentionResult {
  Tensor output;
  Tensor weights{};  ///< undefined unless requested
};

/// query (..., Tq, d_k), key (..., Tk, d_k), value (..., Tk, d_v), with no, (B) or (B, H) leading axes,
/// float32 or float64 -> output (..., Tq, d_v), weights (..., Tq, Tk). Scores are multiplied by `scale`; 0: 1
/// / sqrt(d_k).
AttentionResult scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                             const AttentionOptions& options = {}, double scale = 0);

/// scale Q K^T: query (..., Tq, d_k), key (..., Tk, d_k) -> (..., Tq, Tk).
Tensor attention_scores(const Tensor& query, const Tensor& key, double scale);

/// Self-attention without parameters: the weights are the softmax of all x_i . x_j. x (..., T, D).
AttentionResult plain_self_attention(const Tensor& x);
/// The same, written as loops over positions:
///
///   w_ij = x_i . x_j,   a_ij = e^w_ij / sum over j of e^w_ij,   z_i = sum over j of a_ij x_j
///
/// x (T, D), float32 or float64. Slow; for teaching and testing.
AttentionResult plain_self_attention_in_loops(const Tensor& x);

/// The projections to queries, keys and values: q_i = U_q x_i, k_i = U_k x_i, v_i = U_v x_i.
struct SelfAttentionMatrices {
  Tensor query, key;  ///< U_q and U_k (d_k, D)
  Tensor value;       ///< U_v (d_v, D)
};

/// Self-attention with projections: x (..., T, D) -> output (..., T, d_v), weights (..., T, T). Scores are
/// multiplied by `scale`; 0: 1 / sqrt(d_k).
AttentionResult self_attention(const Tensor& x, const SelfAttentionMatrices& u,
                               const AttentionOptions& options = {}, double scale = 0);

/// Multi-head self-attention with separate projections per head. The concatenated outputs of the heads (...,
/// T, H d_v) are projected by `output_projection` (D_out, H d_v): output (..., T, D_out), weights (..., H, T,
/// T). x (T, D) or (B, T, D). MultiHeadAttention computes the same with one product for all heads.
AttentionResult multi_head_self_attention(const Tensor& x, const std::vector<SelfAttentionMatrices>& heads,
                                          const Tensor& output_projection,
                                          const AttentionOptions& options = {});

/// (B, T, D) -> (B, H, T, D / H). Copies, unlike the layer itself.
Tensor split_heads(const Tensor& x, int heads);
/// The inverse: (B, H, T, D / H) -> (B, T, D).
Tensor merge_heads(const Tensor& x);

struct MultiHeadAttentionOptions {
  int64_t d_model = 512;          ///< D: width of queries and output; must be divisible by `heads`
  int heads = 8;                  ///< H
  int64_t key_width = 0;          ///< width of the key input; 0: d_model
  int64_t value_width = 0;        ///< width of the value input; 0: d_model
  bool bias = true;               ///< in the four linear layers
  double dropout = 0.1;           ///< of the attention weights, in training
  uint64_t seed = 1;              ///< of the initial parameters and of dropout
  DType dtype = DType::kFloat32;  ///< of parameters, inputs and outputs: kFloat32 or kFloat64

  /// Relative positions require self-attention: the same tensor as query, key and value. Absolute positions
  /// are added to the inputs by the caller; here they are equivalent to kNone.
  PositionOptions positions{.kind = PositionKind::kNone};
};

/// d(sum of output * upstream) / d(everything).
struct AttentionGradients {
  /// Same shapes as the inputs. If one tensor was passed for several inputs, the first has the total gradient
  /// and the others are undefined.
  Tensor query, key, value;
  std::map<std::string, Tensor> parameters;  ///< by name
};

/// The multi-head attention layer. Forward passes are thread-safe; training and setting of parameters are
/// not.
class MultiHeadAttention {
 public:
  /// Initializes weights as in Glorot and Bengio (2010), and biases with 0.
  explicit MultiHeadAttention(const MultiHeadAttentionOptions& options = {});
  ~MultiHeadAttention();
  MultiHeadAttention(MultiHeadAttention&&) noexcept;
  MultiHeadAttention& operator=(MultiHeadAttention&&) noexcept;

  const MultiHeadAttentionOptions& options() const;

  /// q_proj.weight, q_proj.bias, and likewise k_proj, v_proj and out_proj. Weights are (output width, input
  /// width). With relative positions, preceded by relative_keys and relative_values, or
  /// relative_attention_bias.weight.
  std::vector<std::string> parameter_names() const;
  /// Returns a copy.
  Tensor parameter(const std::string& name) const;
  /// Stores a copy, converted to the layer's type.
  void set_parameter(const std::string& name, const Tensor& value);

  /// query (B, Tq, D), key (B, Tk, key width), value (B, Tk, value width) -> output (B, Tq, D), weights
  /// (B, H, Tq, Tk). For self-attention, give the same tensor three times: it is projected in one product.
  AttentionResult forward(const Tensor& query, const Tensor& key, const Tensor& value,
                          const AttentionOptions& options = {}) const;

  /// A packed batch of sentences without padding: query (Nq, D), key (Nk, key width), value (Nk, value
  /// width). Sentence b has queries [query_offsets[b], query_offsets[b + 1]), and keys likewise; the first
  /// offset is 0, the last N. The output of a sentence is bit-identical to forward() for it alone, and equal
  /// to forward() with a padding mask up to rounding.
  struct PackedOptions {
    std::vector<int64_t> query_offsets, key_offsets;
    bool look_ahead = false;  ///< as in AttentionOptions
    bool weights = false;
  };
  struct PackedResult {
    Tensor output;                  ///< (Nq, D)
    std::vector<Tensor> weights{};  ///< for each sentence (H, Tq, Tk); empty unless requested
  };
  PackedResult forward_packed(const Tensor& query, const Tensor& key, const Tensor& value,
                              const PackedOptions& options) const;

  /// The same with dropout, and stores what backward() needs, with handles to the inputs, whose elements must
  /// not change until then. Each call samples new masks; the returned weights are those before dropout.
  AttentionResult forward_training(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const AttentionOptions& options = {});
  PackedResult forward_packed_training(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const PackedOptions& options);
  /// The gradients of the last forward_training(), given the gradient of its output, of the same shape. Call
  /// once per forward pass. Throws kShape for another shape or type, after which it may be called again.
  AttentionGradients backward(const Tensor& upstream);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heed
