// The attention of recurrent networks, additive or by dot products: each decoder state is a query, the
// encoder states of its sentence are keys and values.
//
//   additive (Bahdanau et al., 2015)    e_ij = v . tanh(q_i + k_j)      q_i = W_a s_i, k_j = U_a h_j
//   dot      (Luong et al., 2015)       e_ij = q_i . k_j                q_i = s_i,     k_j = h_j
//   general  (Luong et al., 2015)       the same with k_j = W_a h_j
//   weights_ij = softmax over j of e_ij,   context_i = sum_j weights_ij h_j
//
// A state depends on the step before it, so there are few queries at a time and few keys for each: no
// blocking, and the weights are stored, for pictures and the backward pass.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"

namespace heed {

/// One head. The weights of a span begin at its `pairs_begin`, in the order (query, key). Strides count
/// elements from row to row.
template <typename T>
struct AdditiveAttentionArguments {
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
void additive_attention(const AdditiveAttentionArguments<float>& arguments);
void additive_attention(const AdditiveAttentionArguments<double>& arguments);

template <typename T>
struct AdditiveAttentionBackwardArguments {
  AdditiveAttentionArguments<T> forward;  ///< those of the forward pass, with weights
  const T* dcontext = nullptr;
  int64_t dcontext_stride = 0;
  /// Added to; each may be null, but for dquery.
  T* dquery = nullptr;
  T* dkey = nullptr;
  T* dvalue = nullptr;
  T* dv = nullptr;
  int64_t dquery_stride = 0, dkey_stride = 0, dvalue_stride = 0;
};
void additive_attention_backward(const AdditiveAttentionBackwardArguments<float>& arguments);
void additive_attention_backward(const AdditiveAttentionBackwardArguments<double>& arguments);

}  // namespace heed
