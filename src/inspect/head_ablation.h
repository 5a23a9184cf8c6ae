// Attention heads to remove or scale, as options and requests name them.
#pragma once

#include <string>
#include <vector>

#include "models/model.h"
#include "nn/head_scales.h"

namespace heed {

/// "cross:3:5" is head 5 of layer 3 of cross-attention, counted from 1; layer and head may be "all", and
/// "cross:3" means "cross:3:all". Throws kUsage for anything else.
nn::HeadScale parse_head(const std::string& text, float scale = 0);

/// The heads of these names, switched off. Throws like parse_head.
nn::HeadScales heads_off(const std::vector<std::string>& heads);

/// Throws kUsage if the model lacks one of these heads, naming those that it has.
void require_heads(const models::Model& model, const nn::HeadScales& scales);

}  // namespace heed
