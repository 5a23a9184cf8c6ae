// What both sides of a pair write in the same way: names, numbers, addresses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The words between white space, without marks around them, that stand equally often in both texts and are
/// names (a capital, then two small letters or more) or hold something else than letters: digits, @, /, a dot
/// inside. Each once, in the order of `source`.
std::vector<std::string> shared_spans(std::string_view source, std::string_view target);

/// The text with another one in the place of each word that is `span`, marks around words left out.
std::string replace_span(std::string_view text, std::string_view span, std::string_view other);

}  // namespace heed
