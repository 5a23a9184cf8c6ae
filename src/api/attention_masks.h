// Masks of heed/attention.h as masks of the ops.
#pragma once

#include "api/contiguous.h"
#include "heed/attention.h"
#include "ops/attention/attention.h"

namespace heed {

/// The masks for scores of this rank. A mask of (H, Tq, Tk) for scores with a batch axis becomes
/// (1, H, Tq, Tk).
inline ops::AttentionMask mask_of(const AttentionOptions& options, int rank) {
  const auto with_batch_axis = [&](const Tensor& tensor) {
    const Tensor mask = contiguous(tensor);
    if (!mask.defined() || mask.rank() != 3 || rank != 4) return mask;
    return mask.reshape({1, mask.dim(0), mask.dim(1), mask.dim(2)});
  };
  ops::AttentionMask mask{.causal = options.look_ahead};
  mask.key_visible = contiguous(options.padding);
  mask.visible = with_batch_axis(options.mask);
  mask.bias = with_batch_axis(options.bias);
  return mask;
}

}  // namespace heed
