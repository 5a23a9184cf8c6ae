// Writes values as a language usually does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "translate/values/languages/value_language.h"
#include "translate/values/value.h"

namespace heed::translate {

/// The ways to write a value of `text`, the usual one first: at least one. A number that the text says in
/// words is in words first, one with a unit always in figures.
std::vector<std::string> write_value(const Value& value, std::string_view text,
                                     const ValueLanguage& language);

}  // namespace heed::translate
