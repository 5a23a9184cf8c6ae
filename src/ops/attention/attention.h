// Scaled dot-product attention over packed sequences (Vaswani et al., 2017, section 3.2.1):
//
//   Attention(Q, K, V, M) = softmax(Q K^T / sqrt(d_k) + M) V
//
// Rows of Q, K and V are tokens; sequences of any lengths follow each other, and a layout says which queries
// belong to which keys. A padded batch is the case in which all lengths are equal. Heads are ranges of
// columns.
//
// There are two implementations: flash_attention() (FlashAttention-style, online softmax) does not
// materialize the weights; attention_scores(), attention_softmax() and attention_mix() do, for attention
// sinks and for masks other than the causal one.
#pragma once

#include <vector>

#include "autograd/tape.h"
#include "kernels/attention/attention.h"
#include "kernels/gemm/gemm.h"
#include "kernels/pointwise/dropout.h"

namespace heed::ops {

/// Which queries attend to which keys, sequence by sequence.
struct AttentionLayout {
  std::vector<AttentionSpan> spans;

  /// Sequence b has queries [query_offsets[b], query_offsets[b + 1]) and likewise keys. Both lists have one
  /// entry more than there are sequences.
  static AttentionLayout packed(const std::vector<int32_t>& query_offsets,
                                const std::vector<int32_t>& key_offsets);
  /// `batch` sequences of the same lengths.
  static AttentionLayout padded(int64_t batch, int64_t queries, int64_t keys);
  /// Pairs of a query and a key: the weights of one head.
  int64_t pairs() const;
};

/// Masks, in addition to the layout. A masked key gets weight 0; a query without visible keys gives 0.
struct AttentionMask {
  /// Look-ahead mask: no key after the query's position. If there are more keys than queries, the last query
  /// is at the position of the last key.
  bool causal = false;
  /// Keys outside of it are hidden: sliding-window attention.
  AttentionWindow window{};
  /// Padding mask: uint8, one per row of K; 1 is visible.
  Tensor key_visible{};
  /// Any mask: uint8 (Tq, Tk), (H, Tq, Tk) or (B or 1, H or 1, Tq, Tk); 1 is visible. For sequences of one
  /// length only.
  Tensor visible{};
  /// Added to the scores: the same shapes.
  Var bias{};

  /// Whether there are no masks but the causal one and the window.
  bool only_causal() const { return !key_visible.defined() && !visible.defined() && !bias.defined(); }
};

/// Columns [begin, begin + width) of a tensor: the queries, keys or values of all heads.
struct Columns {
  Var var;  ///< (rows, any width), or with more leading axes
  int64_t begin = 0;
  int64_t width = 0;
};

/// The mix of values for every query: (query rows, width of value).
struct AttentionOperands {
  Columns query{}, key{}, value{};
  int heads = 1;
  double scale = 1;  ///< 1 / sqrt(d_k)
  /// Grouped-query attention: the number of key-value heads, which divides `heads`. 0: as many as heads.
  int key_value_heads = 0;
  MatmulPrecision precision = MatmulPrecision::kHighest;  ///< of materialized scores and mix
  /// Soft cap of the scores: they become cap tanh(score / cap), before the mask (Gemma team, "Gemma 2",
  /// 2024). 0: none.
  double score_cap = 0;
};
Var flash_attention(const AttentionOperands& operands, const AttentionLayout& layout, bool causal,
                    const DropoutStream& dropout = {}, const AttentionWindow& window = {});

/// scale * Q K^T for every span and head, with the soft cap: flat, in the order (span, head, query, key).
Var attention_scores(const AttentionOperands& operands, const AttentionLayout& layout);
/// What the masks leave: uint8, in the order of the scores; 0 where a key is hidden from a query. Undefined
/// if there is no mask that could hide one.
Tensor visible_keys(const AttentionLayout& layout, int heads, const AttentionMask& mask);
/// Softmax over the keys that are visible.
Var attention_softmax(const Var& scores, const AttentionLayout& layout, int heads, const AttentionMask& mask);
/// The operands' values mixed by the weights.
Var attention_mix(const Var& weights, const AttentionOperands& operands, const AttentionLayout& layout);

}  // namespace heed::ops
