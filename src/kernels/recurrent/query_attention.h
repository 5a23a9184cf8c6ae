// The attention of recurrent networks: one decoder state at a time asks, the annotations of its sentence
// answer.
//
//   additive (Bahdanau et al., 2015)    e_ij = v . tanh(q_i + k_j)      q_i = W_a s_i, k_j = U_a h_j
//   dot      (Luong et al., 2015)       e_ij = q_i . k_j                q_i = s_i,     k_j = h_j
//   general  (Luong et al., 2015)       the same with k_j = W_a h_j
//   weights_ij = softmax over j of e_ij,   context_i = sum_j weights_ij h_j
//
// A state is known only after the step before it, so there are a few queries at a time and a few keys for
// each: no blocks, and the weights, which the pictures show, are simply kept.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"

namespace heed {

/// One head. The weights of a span stand from its `pairs_begin` on, in the order (query, key). Strides count
/// elements from row to row.
template <typename T>
struct QueryAttentionArguments {
  const AttentionSpan* spans = nullptr;
  int64_t span_count = 0;
  int64_t key_width = 0, value_width = 0;
  const T* query = nullptr;
  const T* key = nullptr;
  const T* value = nullptr;
  int64_t query_stride = 0, key_stride = 0, value_stride = 0;
  const T* v = nullptr;  ///< (key_width) of the additive score; null: dot products
  T* weights = nullptr;
  T* context = nullptr;  ///< (queries, value_width); 0 where there are no keys
  int64_t context_stride = 0;
};
void query_attention(const QueryAttentionArguments<float>& arguments);
void query_attention(const QueryAttentionArguments<double>& arguments);

template <typename T>
struct QueryAttentionBackwardArguments {
  QueryAttentionArguments<T> forward;  ///< as they were, weights filled in
  const T* dcontext = nullptr;
  int64_t dcontext_stride = 0;
  /// Added to; each may be null, but for dquery.
  T* dquery = nullptr;
  T* dkey = nullptr;
  T* dvalue = nullptr;
  T* dv = nullptr;
  int64_t dquery_stride = 0, dkey_stride = 0, dvalue_stride = 0;
};
void query_attention_backward(const QueryAttentionBackwardArguments<float>& arguments);
void query_attention_backward(const QueryAttentionBackwardArguments<double>& arguments);

}  // namespace heed
