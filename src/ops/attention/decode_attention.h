// Attention of the steps of a decoder: single queries, and keys and values of earlier positions in a cache.
#pragma once

#include <vector>

#include "ops/attention/attention.h"

namespace heed::ops {

/// The rows of a cache that queries attend to.
struct CachedKeys {
  const std::vector<AttentionSpan>& spans;
  /// Key j of a span is row key_rows[j] of the operands; row j where empty.
  const std::vector<int32_t>& key_rows;
  AttentionWindow window{};
};

/// The mix of values for every query, as flash_attention() of the rows side by side gives it: float32 (query
/// rows, width of value). Keys and values are both float32 or both float16. Has no derivative, ignores
/// `precision`.
Tensor decode_attention(const AttentionOperands& operands, const CachedKeys& cached);

}  // namespace heed::ops
