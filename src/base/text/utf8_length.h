// Validation of UTF-8 for text of files. src/text has what works on code points.
#pragma once

#include <cstddef>
#include <string_view>

namespace heed {

/// The number of bytes of the valid UTF-8 sequence at the start of `text`, which is not empty; 0 if it is
/// invalid.
size_t utf8_length(std::string_view text);
/// Whether all of `text` is valid UTF-8.
bool is_utf8(std::string_view text);

}  // namespace heed
