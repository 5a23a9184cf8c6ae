// Embedding lookup: rows of a table by id.
#pragma once

#include "autograd/tape.h"

namespace heed::ops {

/// y[t] = table[ids[t]] * scale + positions[position_ids[t]]
///
/// ids (...) int32 in [0, V), table (V, D), -> (..., D). Without `positions`, nothing is added;
/// `position_ids` has as many elements as ids, and `positions` (P, D) is a constant. Rows of the table with
/// number `padding_id` get no gradient from here (-1: all do). Throws kShape for shapes that do not fit,
/// kUsage for an id or position outside the table.
struct EmbeddingOptions {
  double scale = 1;
  int64_t padding_id = -1;
  Tensor positions;
  Tensor position_ids;
};
Var embedding(const Var& table, const Tensor& ids, const EmbeddingOptions& options = {});

}  // namespace heed::ops
