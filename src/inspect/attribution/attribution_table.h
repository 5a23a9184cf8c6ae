// Attributions as text for the terminal and as a picture.
#pragma once

#include <string>

#include "heed/attribution.h"
#include "inspect/draw/picture.h"
#include "inspect/terminal/terminal_text.h"

namespace heed {

/// One column for each explained token, one row for each token that is read; a single token as signed bars.
/// Throws kUsage for fewer than 40 columns.
std::string attribution_table(const Attribution& attribution, int columns, TerminalColours colours);

/// A heat map with a row for each explained token.
Picture attribution_picture(const Attribution& attribution);

}  // namespace heed
