// White space as defined by Python's str methods, which sacreBLEU and Hugging Face tokenizers use.
#pragma once

#include <string_view>
#include <vector>

namespace heed {

/// str.isspace() of one character: Unicode's white space and the separators U+001C to U+001F.
bool is_whitespace(char32_t code_point);

/// str.rstrip() and str.strip().
std::string_view strip_right(std::string_view text);
std::string_view strip(std::string_view text);

/// str.split().
std::vector<std::string_view> split_whitespace(std::string_view text);

}  // namespace heed
