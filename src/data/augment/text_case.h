// Converts sentences to upper case, lower case and title case, for data augmentation.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// "große Straße" -> "GROSSE STRASSE".
std::string in_capitals(std::string_view text);
std::string in_lower_case(std::string_view text);
/// "Where is Tom?" -> "where is Tom?". Skips leading punctuation: "¿Dónde?" -> "¿dónde?".
std::string without_first_capital(std::string_view text);
/// English title case: "The cat on the roof" -> "The Cat on the Roof". Articles, conjunctions and short
/// prepositions are lower case unless first or last.
std::string in_title_case(std::string_view english);

}  // namespace heed
