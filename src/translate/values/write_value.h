// Writes values as a language usually does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "translate/values/languages/value_language.h"
#include "translate/values/value.h"

namespace heed::translate {

/// The ways to write a value of `text`, the usual one first: at least one. A number that the text says in
/// words is in words first, one with a unit always in figures. Four digits without separators, such as a
/// year, are written without. Money, and a number without a unit, keeps a word such as "million".
std::vector<std::string> write_value(const Value& value, std::string_view text,
                                     const ValueLanguage& language);

/// A text of numbers in figures, with units or without and nothing else but marks, as another language writes
/// it: "$1,234.50" is "1.234,50 Dollar" in German, and "7 2 6" stays. So do texts with a version,
/// "10.0.19045", a list, "1,2,3", and numbers in columns. None for other texts, and where a number may be
/// another one.
std::optional<std::string> rewrite_numbers(std::string_view text, const ValueLanguage& from,
                                           const ValueLanguage& to);

}  // namespace heed::translate
