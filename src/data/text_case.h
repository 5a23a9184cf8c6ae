// Sentences in other cases than people who write with care choose.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// "große Straße" -> "GROSSE STRASSE".
std::string in_capitals(std::string_view text);
std::string in_lower_case(std::string_view text);
/// "Where is Tom?" -> "where is Tom?". The letter may stand behind marks: "¿Dónde?" -> "¿dónde?".
std::string without_first_capital(std::string_view text);
/// As English headings are written: "The cat on the roof" -> "The Cat on the Roof". Articles, conjunctions
/// and short prepositions stay small, unless first or last.
std::string in_title_case(std::string_view english);

}  // namespace heed
