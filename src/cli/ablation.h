// --ablate: attention heads that are switched off.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/translation.h"
#include "nn/head_scales.h"

namespace heed::cli {

/// Adds --ablate, which may be repeated.
void add_ablate_option(Command& app, std::vector<std::string>& heads);

/// Throws kUsage for text that names no head.
nn::HeadScales ablation_of(const std::vector<std::string>& heads);

/// Throws kUsage if the model lacks one of the heads.
void require_heads(const TranslationModel& model, const nn::HeadScales& scales);

}  // namespace heed::cli
