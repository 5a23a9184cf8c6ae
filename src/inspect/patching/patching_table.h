// The effects of activation patching as tables for the terminal and as a picture.
#pragma once

#include <string>

#include "heed/patching.h"
#include "inspect/draw/picture.h"

namespace heed {

/// One table for each stack, with a row for each layer, and the largest effects. Throws kUsage for fewer than
/// 40 columns.
std::string patching_table(const Patching& patching, int columns);

/// A heat map for each stack.
Picture patching_picture(const Patching& patching);

}  // namespace heed
