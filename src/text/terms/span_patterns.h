// The patterns of spans that a translation must preserve: addresses, code, format strings, numbers, emojis.
#pragma once

#include <string_view>
#include <vector>

#include "text/terms/protected_spans.h"

namespace heed {

/// The matches of the patterns in a text, in order, without overlap; of several at one place, the first in
/// the table. Throws kText for invalid UTF-8.
std::vector<ProtectedSpan> find_span_patterns(std::string_view text);

}  // namespace heed
