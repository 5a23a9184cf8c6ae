// Attention (Vaswani et al., "Attention is all you need", 2017): the function, and the layer with several
// heads.
//
//   Attention(Q, K, V, M) = softmax(Q K^T / sqrt(d_k) + M) V
//   MultiHead(Q, K, V)    = Concat(head_1, ..., head_H) W_o,  head_h = Attention of the columns of h in
//                                                             Q W_q, K W_k, V W_v
//
// In the comments: B sentences of T tokens (Tq queries, Tk keys), padded to one length; N tokens in all,
// where the sentences follow each other without padding; D width of the model; H heads; d_k = D / H, width of
// a head. All functions throw heed::Error for shapes and options that do not fit.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heed/positions.h"
#include "heed/tensor.h"

namespace heed {

/// uint8 (B, longest): 1 for the tokens of each sentence, 0 for the padding behind them.
Tensor padding_mask(const std::vector<int64_t>& lengths, int64_t longest);
/// uint8 (T, T): 1 at and below the diagonal, so that a position sees itself and what is before it.
Tensor look_ahead_mask(int64_t length);

/// What queries may see, and what is wanted. Masks go together: a key is seen where all of them allow it.
/// What is hidden gets weight 0; a query that sees nothing at all gets weights of 0 only.
struct AttentionOptions {
  /// uint8 (B, Tk): 1 is a token, 0 is hidden from all queries of the sentence.
  Tensor padding{};
  /// A query sees no key after its own place; the last query sees the last key.
  bool look_ahead = false;
  /// uint8 (Tq, Tk), (H, Tq, Tk) or (B, H, Tq, Tk), B and H may be 1: 1 is seen, 0 is hidden.
  Tensor mask{};
  /// Added to the scores, in their type; the same shapes.
  Tensor bias{};
  /// Whether the weights are wanted; if not, they are not even made where that can be avoided.
  bool weights = false;
};

struct AttentionResult {
  Tensor output;
  Tensor weights{};  ///< not defined unless asked for
};

/// query (..., Tq, d_k), key (..., Tk, d_k), value (..., Tk, d_v), with none, (B) or (B, H) in front, float32
/// or float64 -> output (..., Tq, d_v), weights (..., Tq, Tk). Scores are multiplied by `scale`; 0 means 1 /
/// sqrt(d_k).
AttentionResult scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                             const AttentionOptions& options = {}, double scale = 0);

/// scale Q K^T: query (..., Tq, d_k), key (..., Tk, d_k) -> (..., Tq, Tk). The raw dot products where scale
/// is 1.
Tensor attention_scores(const Tensor& query, const Tensor& key, double scale);

/// Self-attention without any parameters: weights are the softmax of all x_i . x_j. x (..., T, D).
AttentionResult plain_self_attention(const Tensor& x);
/// The same as one would first write it down, word by word and sum by sum:
///
///   w_ij = x_i . x_j,   a_ij = e^w_ij / sum over j of e^w_ij,   z_i = sum over j of a_ij x_j
///
/// x (T, D), float32 or float64. Slow; for reading, and for comparing.
AttentionResult plain_self_attention_in_loops(const Tensor& x);

/// The matrices that make queries, keys and values of a word: q_i = U_q x_i, k_i = U_k x_i, v_i = U_v x_i.
struct SelfAttentionMatrices {
  Tensor query, key;  ///< U_q and U_k (d_k, D)
  Tensor value;       ///< U_v (d_v, D)
};
/// Self-attention with them: x (..., T, D) -> output (..., T, d_v), weights (..., T, T). Scores are
/// multiplied by `scale`; 0 means 1 / sqrt(d_k).
AttentionResult self_attention(const Tensor& x, const SelfAttentionMatrices& u,
                               const AttentionOptions& options = {}, double scale = 0);
/// Several heads, each with matrices of its own, whose outputs stand side by side (..., T, h d_v) until
/// `squash` (D_out, h d_v) makes one vector of them again: output (..., T, D_out), and weights (T, T) of each
/// head as (..., H, T, T). x (T, D) or (B, T, D). MultiHeadAttention does the same in one product.
AttentionResult multi_head_self_attention(const Tensor& x, const std::vector<SelfAttentionMatrices>& heads,
                                          const Tensor& squash, const AttentionOptions& options = {});

/// (B, T, D) -> (B, H, T, D / H): which number lands in which head. A copy; the layer itself needs none.
Tensor split_heads(const Tensor& x, int heads);
/// The way back: (B, H, T, D / H) -> (B, T, D).
Tensor merge_heads(const Tensor& x);

struct MultiHeadAttentionOptions {
  int64_t d_model = 512;          ///< D: width of queries and output; must be divisible by `heads`
  int heads = 8;                  ///< H
  int64_t key_width = 0;          ///< of the vectors that keys are made from; 0: as d_model
  int64_t value_width = 0;        ///< of those that values are made from; 0: as d_model
  bool bias = true;               ///< in the four linear layers
  double dropout = 0.1;           ///< of the weights, while training
  uint64_t seed = 1;              ///< of the first parameters and of dropout
  DType dtype = DType::kFloat32;  ///< or kFloat64, of parameters, inputs and outputs
  /// Relative ones make it a layer for self-attention, which takes one tensor three times. Absolute ones are
  /// added to its inputs by whoever calls it, so that here they are as kNone.
  PositionOptions positions{.kind = PositionKind::kNone};
};

/// d(sum of output * upstream) / d(everything).
struct AttentionGradients {
  /// Shaped as the inputs. Where one tensor was given for several of them, the first has the whole gradient
  /// and the others are not defined.
  Tensor query, key, value;
  std::map<std::string, Tensor> parameters;  ///< by name
};

/// The layer. Forward passes may run in several threads at once; training and setting of parameters may not.
class MultiHeadAttention {
 public:
  /// Parameters begin as Glorot and Bengio (2010) say; biases begin at 0.
  explicit MultiHeadAttention(const MultiHeadAttentionOptions& options = {});
  ~MultiHeadAttention();
  MultiHeadAttention(MultiHeadAttention&&) noexcept;
  MultiHeadAttention& operator=(MultiHeadAttention&&) noexcept;

  const MultiHeadAttentionOptions& options() const;

  /// q_proj.weight, q_proj.bias, and likewise k_proj, v_proj and out_proj. A weight is (width out, width in).
  /// With relative positions, in front of them relative_keys and relative_values, or
  /// relative_attention_bias.weight.
  std::vector<std::string> parameter_names() const;
  /// A copy.
  Tensor parameter(const std::string& name) const;
  /// Takes a copy, converted to the layer's type.
  void set_parameter(const std::string& name, const Tensor& value);

  /// query (B, Tq, D), key (B, Tk, key width), value (B, Tk, value width) -> output (B, Tq, D), weights
  /// (B, H, Tq, Tk). For self-attention, give the same tensor three times: it is projected in one product.
  AttentionResult forward(const Tensor& query, const Tensor& key, const Tensor& value,
                          const AttentionOptions& options = {}) const;

  /// Sentences of any lengths without padding: query (Nq, D), key (Nk, key width), value (Nk, value width).
  /// Sentence b has queries [query_offsets[b], query_offsets[b + 1]), and likewise keys; the first offset is
  /// 0, the last N. The output of a sentence has the same bits as that of forward() for it alone; it agrees
  /// with forward() under a padding mask up to rounding, since that takes its sums in another order.
  struct PackedOptions {
    std::vector<int64_t> query_offsets, key_offsets;
    bool look_ahead = false;  ///< as in AttentionOptions
    bool weights = false;
  };
  struct PackedResult {
    Tensor output;                  ///< (Nq, D)
    std::vector<Tensor> weights{};  ///< for each sentence (H, Tq, Tk); empty unless asked for
  };
  PackedResult forward_packed(const Tensor& query, const Tensor& key, const Tensor& value,
                              const PackedOptions& options) const;

  /// The same with dropout, remembered for backward(). Each call draws other masks; the weights are those
  /// before dropout.
  AttentionResult forward_training(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const AttentionOptions& options = {});
  PackedResult forward_packed_training(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const PackedOptions& options);
  /// The gradients of the last forward_training(), given that of its output. Once for each.
  AttentionGradients backward(const Tensor& upstream);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heed
