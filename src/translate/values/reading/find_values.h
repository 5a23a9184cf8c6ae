// Finds what a text says in numbers, times, dates, codes and addresses.
#pragma once

#include <string_view>

#include "translate/values/languages/value_language.h"
#include "translate/values/value.h"

namespace heed::translate {

/// Thread-safe. `text` is valid UTF-8.
TextValues find_values(std::string_view text, const ValueLanguage& language);

/// The letters and digits of a text, in lower case, and its superscripts as tokenizers write them: "mc2" of
/// "mc²".
std::string letters_and_digits(std::string_view text);

}  // namespace heed::translate
