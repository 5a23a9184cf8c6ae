// Checks and access of attention operands, shared by the ops on attention. Not for use elsewhere.
#pragma once

#include <vector>

#include "base/check.h"
#include "ops/attention/attention.h"

namespace heed::ops {

/// Throws kShape unless the columns exist and divide evenly among the heads; `name` is for messages.
void require_columns(const char* name, const Columns& columns, int heads);

/// Throws kShape or kUsage for operands whose shapes, types, heads or options do not match each other or the
/// layout.
void require_operands(const AttentionOperands& operands, const AttentionLayout& layout);

/// Throws kUsage for a negative window.
void require_window(const AttentionWindow& window);

/// Throws kShape unless `weights` (or scores) are contiguous, with one element per head and pair of query and
/// key. `op` and `name` are for messages.
void require_weights(const char* op, const char* name, const Tensor& weights, const AttentionLayout& layout,
                     int heads);

/// The number of key-value heads; `key_value_heads` 0 stands for `heads`. Throws kShape if it does not divide
/// the number of heads.
int key_value_heads_of(int heads, int key_value_heads);

template <typename T>
T* first_column(Tensor& tensor, const Columns& columns) {
  return tensor.data<T>() + columns.begin;
}

template <typename T>
const T* first_column(const Columns& columns) {
  return columns.var.value().data<T>() + columns.begin;
}

/// visit(span, head, offset of the span's weights of the head in the flat order)
template <typename Visit>
void for_each_head(const std::vector<AttentionSpan>& spans, int heads, const Visit& visit) {
  for (const AttentionSpan& span : spans) {
    for (int64_t head = 0; head < heads; ++head) {
      visit(span, head, heads * span.pairs_begin + head * span.queries() * span.keys());
    }
  }
}

}  // namespace heed::ops
