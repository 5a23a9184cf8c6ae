// The mark that some programs write at the beginning of UTF-8, which is no text.
#pragma once

#include <string_view>

namespace heed {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace heed
