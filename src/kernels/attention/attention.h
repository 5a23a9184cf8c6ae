// FlashAttention-style attention over sequences of any lengths, forward and backward: the weights are never
// stored.
//
//   Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V          (Vaswani et al., 2017, equation 1)
//
// Keys are processed in blocks with an online softmax (online_softmax-inl.h; Dao et al., "FlashAttention",
// 2022), so memory is linear in the length. The backward pass recomputes the weights from the stored
// log-sum-exp; rows with scores so large that log-sum-exp has lost precision are summed again there. The
// reference to test against is the chain of ops in ops/attention/attention.h that materializes the weights.
//
// attention.cc is the general case, decode_attention.cc the steps of a decoder, amx/ the same on AMX.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/pointwise/dropout.h"

namespace heed {

/// Sliding-window attention: a query at position p sees the keys at [p - left, p + right]. Mistral's
/// `sliding_window` W is left = W - 1; local attention over L tokens (ModernBERT) is left = right = L / 2.
struct AttentionWindow {
  static constexpr int64_t kUnlimited = std::numeric_limits<int32_t>::max();
  int64_t left = kUnlimited, right = kUnlimited;
};

/// Queries [query_begin, query_end) see keys [key_begin, key_end): one sentence of a packed batch.
struct AttentionSpan {
  int32_t query_begin = 0, query_end = 0, key_begin = 0, key_end = 0;
  /// Pairs of a query and a key in the spans before this one. The elements of the dropout mask are numbered
  /// in the order (span, head, query, key), those of this span from heads * pairs_begin on.
  int64_t pairs_begin = 0;

  int64_t queries() const { return query_end - query_begin; }
  int64_t keys() const { return key_end - key_begin; }
  /// The position of query `q` among the keys: that of the last query is the last key's.
  int64_t position(int64_t q) const { return keys() - queries() + q; }
  /// The causal mask: how many keys query `q` of the span sees. The last query sees the last key.
  int64_t visible_keys(bool causal, int64_t q) const {
    return causal ? std::max<int64_t>(0, position(q) + 1) : keys();
  }
  /// With a window besides, query `q` sees the keys [first_key(), end_key()).
  int64_t first_key(const AttentionWindow& window, int64_t q) const {
    return std::max<int64_t>(0, position(q) - window.left);
  }
  int64_t end_key(bool causal, const AttentionWindow& window, int64_t q) const {
    return std::min(visible_keys(causal, q), std::max<int64_t>(0, position(q) + window.right + 1));
  }
  /// Whether the window hides nothing that the causal mask shows.
  bool fits_in(bool causal, const AttentionWindow& window) const {
    return first_key(window, queries() - 1) == 0 && (causal || end_key(false, window, 0) == keys());
  }
};

/// Head h has columns [h * key_width, (h + 1) * key_width) of a row of query, and likewise of output. Heads
/// may share keys and values in groups (Ainslie et al., "GQA", 2023): head h has those of number h *
/// key_value_heads / heads. Strides count elements from row to row.
template <typename T>
struct AttentionArguments {
  const AttentionSpan* spans = nullptr;
  int64_t span_count = 0;
  int heads = 1;
  int key_value_heads = 0;                 ///< divides `heads`; 0: as many
  int64_t key_width = 0, value_width = 0;  ///< of one head
  T scale = 1;                             ///< of the scores: 1 / sqrt(d_k)
  /// Look-ahead mask: a query sees no key after its own position; the last query sees the last key.
  bool causal = false;
  AttentionWindow window{};
  /// Soft cap c of the scores: c tanh(scale q k / c) (Gemma team, "Gemma 2", 2024); 0: none.
  T score_cap = 0;
  DropoutStream dropout;

  const T* query = nullptr;
  const T* key = nullptr;
  const T* value = nullptr;
  int64_t query_stride = 0, key_stride = 0, value_stride = 0;
  /// Key j of a span is row key_rows[j] of key and value; row j where null. Forward only, and
  /// without dropout.
  const int32_t* key_rows = nullptr;

  T* output = nullptr;
  int64_t output_stride = 0;
  T* log_sum_exp = nullptr;  ///< (query rows, heads), for the backward pass, or null
};
void attention(const AttentionArguments<float>& arguments);
void attention(const AttentionArguments<double>& arguments);

/// Rows of keys and values, with the strides in elements.
template <typename Stored>
struct KeysAndValues {
  const Stored* key = nullptr;
  const Stored* value = nullptr;
  int64_t key_stride = 0, value_stride = 0;
};
using HalfKeysAndValues = KeysAndValues<uint16_t>;

/// Decode attention with keys and values in float16 (IEEE 754 half precision), which replace those of
/// `arguments`: a decoding step is bound by memory. Few queries, no dropout.
void attention(const AttentionArguments<float>& arguments, const HalfKeysAndValues& cached);
/// Rounded to nearest; larger numbers become the largest finite one, 65504. NaN stays NaN.
void floats_to_halves(const float* floats, int64_t size, uint16_t* halves);

template <typename T>
struct AttentionBackwardArguments {
  AttentionArguments<T> forward;  ///< those of the forward pass, with output and log_sum_exp
  const T* doutput = nullptr;
  int64_t doutput_stride = 0;
  T* dquery = nullptr;
  T* dkey = nullptr;
  T* dvalue = nullptr;
  int64_t dquery_stride = 0, dkey_stride = 0, dvalue_stride = 0;
  /// Gradients are added, or else written, which needs rows that belong to one span each. Those of keys and
  /// values that heads share are added.
  bool add_to_dquery = true, add_to_dkey = true, add_to_dvalue = true;
};
void attention_backward(const AttentionBackwardArguments<float>& arguments);
void attention_backward(const AttentionBackwardArguments<double>& arguments);

}  // namespace heed
