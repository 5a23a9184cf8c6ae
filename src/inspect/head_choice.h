// Heads that are switched off or scaled, as people name them.
#pragma once

#include <string>

#include "inspect/trace.h"
#include "nn/head_scales.h"

namespace heed {

/// "cross:3:5" is the fifth head of the third layer of cross-attention; layer and head may be "all", and
/// "cross:3" is short for "cross:3:all". Throws kUsage for anything else.
nn::HeadScale parse_head(const std::string& text, float scale = 0);

/// Throws kUsage if the model that made the trace lacks one of these heads, naming those that it has.
void require_heads(const Trace& trace, const nn::HeadScales& scales);

}  // namespace heed
