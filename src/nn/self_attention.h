// Attention as a function: no parameters, any number of leading axes, weights as an output.
//
// nn/attention.h has the layer; both use ops/attention/attention.h.
#pragma once

#include "ops/attention/attention.h"

namespace heed::nn {

struct AttentionOutput {
  Var output;   ///< (..., Tq, d_v)
  Var weights;  ///< (..., Tq, Tk): one row of weights for each query
};

/// softmax(scale Q K^T + M) V (Vaswani et al., 2017, equation 1), for every matrix of the leading axes.
///
/// query (..., Tq, d_k), key (..., Tk, d_k), value (..., Tk, d_v), all with the same leading axes: none, (B)
/// or (B, H), for example. Scale 0 stands for 1 / sqrt(d_k). The masks of ops::AttentionMask may have these
/// shapes: key_visible (B, Tk), or (Tk) without leading axes; visible and bias (Tq, Tk), or as
/// many axes as the weights have, any leading one of length 1 (but not for a bias that wants a
/// gradient). Throws kShape.
AttentionOutput scaled_dot_product_attention(const Var& query, const Var& key, const Var& value,
                                             const ops::AttentionMask& mask = {}, double scale = 0);

/// Self-attention in its simplest form: every x_i becomes a mix of all x_j, weighted by similarity,
///
///   w_ij = x_i . x_j,   a_ij = softmax over j of w_ij,   z_i = sum over j of a_ij x_j
///
/// x (..., T, D) -> output (..., T, D), weights (..., T, T). No parameters, no scale.
AttentionOutput plain_self_attention(const Var& x);

}  // namespace heed::nn
