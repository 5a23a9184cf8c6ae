// The attention of recurrent networks (Bahdanau et al., 2015; Luong et al., 2015) over packed sequences.
// kernels/recurrent/additive_attention.h has the formulas.
#pragma once

#include "autograd/tape.h"
#include "ops/attention.h"

namespace heed::ops {

struct QueryAttention {
  Var context;     ///< (queries, C)
  Tensor weights;  ///< flat, in the order (sequence, query, key)
};

/// context_i = sum_j weights_ij values_j, where weights are the softmax over the keys of query i's sequence
/// of v . tanh(q_i + k_j), or of q_i . k_j where v is undefined. queries (Nq, A), keys (Nk, A), values
/// (Nk, C), v (A). The layout's sequences must hold all queries, in order. Throws kShape.
QueryAttention query_attention(const Var& queries, const Var& keys, const Var& values, const Var& v,
                               const AttentionLayout& layout);

}  // namespace heed::ops
