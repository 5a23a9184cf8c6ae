// Root mean square normalization.
#pragma once

#include <vector>

#include "autograd/tape.h"

namespace heed::ops {

struct RmsNormOptions {
  double epsilon = 1e-6;     ///< added to the mean square
  double weight_offset = 0;  ///< added to the weight: 1 in Gemma, whose weights begin at 0
};

/// Over the last axis: y = x / sqrt(mean(x^2) + epsilon) * (weight_offset + weight) (Zhang and Sennrich,
/// 2019). x (..., D), weight (D).
Var rms_norm(const Var& x, const Var& weight, const RmsNormOptions& options = {});

/// Columns [begin, begin + width) of each row: heads side by side, as wide as `weight`.
struct NormedHeads {
  int64_t begin = 0, width = 0;
  Var weight;  ///< (d_k)
};
/// Query-key norm (Henry et al., 2020): rms_norm() of each head by itself; other columns of x (rows, any
/// width) stay as they are. Throws kShape where the heads do not fit.
Var rms_norm_heads(const Var& x, const std::vector<NormedHeads>& parts, const RmsNormOptions& options = {});

}  // namespace heed::ops
