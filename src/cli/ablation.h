// --ablate: attention heads that are switched off.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"

namespace heed::cli {

/// Adds --ablate, which may be repeated.
void add_ablate_option(Command& app, std::vector<std::string>& heads);

}  // namespace heed::cli
