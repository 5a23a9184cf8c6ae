// Names of attention heads: "cross:3:5". Options and requests name so the heads to remove or scale.
#pragma once

#include <string>
#include <vector>

#include "models/model.h"
#include "nn/head_scales.h"

namespace heed {

/// "encoder", "decoder" or "cross".
const char* stack_name(Stack stack);

namespace models {

/// "cross:3:5" is head 5 of layer 3 of cross-attention, counted from 1; layer and head may be "all", and
/// "cross:3" means "cross:3:all". Throws kUsage for anything else.
nn::HeadScale parse_head(const std::string& text, float scale = 0);

/// The heads of these names, switched off. Throws like parse_head.
nn::HeadScales heads_off(const std::vector<std::string>& heads);

/// "cross:3:5"
std::string head_name(const nn::HeadScale& head);

/// Every head of the model, with scale 0: encoder, cross, decoder; by layer and head. Throws kUsage for a
/// recurrent network, which has none that can be switched off.
std::vector<nn::HeadScale> heads_of(const Model& model);

/// Throws kUsage if the model lacks one of these heads, naming those that it has.
void require_heads(const Model& model, const nn::HeadScales& scales);

}  // namespace models
}  // namespace heed
