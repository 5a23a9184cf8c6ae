// Masks of heed/attention.h as masks of the ops.
#pragma once

#include "api/contiguous.h"
#include "base/check.h"
#include "heed/attention.h"
#include "ops/attention/attention.h"

namespace heed {

/// Throws kShape for a mask that is not of uint8; undefined is none.
inline void require_mask_type(const char* what, const Tensor& mask) {
  if (!mask.defined() || mask.dtype() == DType::kUInt8) return;
  fail(ErrorKind::kShape, "attention: the {} is of {}; give one of uint8 or bool, 1 for what is visible",
       what, name_of(mask.dtype()));
}

/// The masks for scores of this rank. A mask of (H, Tq, Tk) for scores with a batch axis becomes
/// (1, H, Tq, Tk).
inline ops::AttentionMask mask_of(const AttentionOptions& options, int rank) {
  const auto with_batch_axis = [&](const Tensor& tensor) {
    const Tensor mask = contiguous(tensor);
    if (!mask.defined() || mask.rank() != 3 || rank != 4) return mask;
    return mask.reshape({1, mask.dim(0), mask.dim(1), mask.dim(2)});
  };
  require_mask_type("padding mask", options.padding);
  require_mask_type("mask", options.mask);
  ops::AttentionMask mask{.causal = options.look_ahead};
  mask.key_visible = contiguous(options.padding);
  mask.visible = with_batch_axis(options.mask);
  mask.bias = with_batch_axis(options.bias);
  return mask;
}

}  // namespace heed
