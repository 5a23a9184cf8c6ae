// Additive (Bahdanau et al., 2015) and dot-product (Luong et al., 2015) attention of recurrent networks, over
// packed sequences whose queries are all known. Where a query depends on the context before it, see
// recurrent_decoder.h.
// kernels/recurrent/additive_attention.h has the formulas.
#pragma once

#include "autograd/tape.h"
#include "ops/attention/attention.h"

namespace heed::ops {

struct RecurrentAttentionOutput {
  Var context;     ///< (queries, C)
  Tensor weights;  ///< flat, in the order (sequence, query, key)
};

/// context_i = sum_j weights_ij values_j, where weights are the softmax over the keys of query i's sequence
/// of v . tanh(q_i + k_j), or of q_i . k_j where v is undefined. queries (Nq, A), keys (Nk, A), values
/// (Nk, C), v (A). The layout's sequences must hold all queries, in order. Throws kShape.
RecurrentAttentionOutput recurrent_attention(const Var& queries, const Var& keys, const Var& values,
                                             const Var& v, const AttentionLayout& layout);

}  // namespace heed::ops
