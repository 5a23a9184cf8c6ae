// Columns: slicing and concatenation.
#pragma once

#include <vector>

#include "autograd/tape.h"

namespace heed::ops {

/// Columns [begin, begin + width) of x (..., any width) -> (..., width). Throws kShape where they lie
/// outside.
Var columns(const Var& x, int64_t begin, int64_t width);

/// Rows side by side: parts (..., w_1), (..., w_2), ... -> (..., w_1 + w_2 + ...). Throws kShape where the
/// other axes differ, or there is no part.
Var concatenate(const std::vector<Var>& parts);

}  // namespace heed::ops
