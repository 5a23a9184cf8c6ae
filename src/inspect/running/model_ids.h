// Checks of the ids that a caller gives to a model.
#pragma once

#include <cstdint>
#include <vector>

#include "inspect/reading/model_input.h"
#include "models/model.h"

namespace heed {

/// The number of ids that the stacks of a model read.
struct IdRanges {
  int64_t source = 0;   ///< of an encoder; 0 for a model without one
  int64_t decoder = 0;  ///< of a decoder; likewise
};
IdRanges id_ranges(const models::Model& model);

/// The maximum number of tokens of each stack; 0: no limit.
int64_t max_tokens(const models::Model& model);
/// The token that a decoder reads first; -1: none.
int32_t start_id(const models::Model& model);

/// Throws kUsage for an id that is not below `count`; `index` is its place, from 0.
void require_id(int32_t id, size_t index, int64_t count);

/// `ids` and `decoder_ids` as of Model::forward() in heed/model.h. Throws kUsage as it does.
ModelInput checked_input(const models::Model& model, const std::vector<int32_t>& ids,
                         const std::vector<int32_t>& decoder_ids);

}  // namespace heed
