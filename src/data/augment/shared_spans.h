// Words that both sides of a pair share: names, numbers, addresses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The words (separated by spaces, without surrounding punctuation) that occur equally often in both texts
/// and are names (a capital followed by at least two lower-case letters) or contain digits or inner
/// punctuation such as @, / and dots. Each once, in the order of `source`.
std::vector<std::string> shared_spans(std::string_view source, std::string_view target);

/// Replaces each word that equals `span`; surrounding punctuation stays.
std::string replace_span(std::string_view text, std::string_view span, std::string_view other);

}  // namespace heed
