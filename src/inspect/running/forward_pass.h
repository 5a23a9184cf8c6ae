// Model::forward() of heed/model.h.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/model.h"
#include "models/directory/loaded_model.h"

namespace heed {

/// Throws as Model::forward().
ForwardResult forward_pass(const models::LoadedModel& loaded, const std::vector<int32_t>& ids,
                           const std::vector<int32_t>& decoder_ids, const ForwardOptions& options);

}  // namespace heed
