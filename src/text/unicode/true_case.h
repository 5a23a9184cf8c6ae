// True-casing of lines in capitals, which are rare in training data: converts them to normal case before
// translation, and the translation back to capitals.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// Whether a text is all upper case: at least two words with several capitals, no lower-case letter, and more
/// capitals than letters of scripts without case.
bool is_all_capitals(std::string_view text);

/// Whether a text is in title case: at least four words with letters, all capitalized.
bool is_title_case(std::string_view text);

/// A word in lower case and with a capital first letter.
struct WordForms {
  std::string lower, capitalized;
};
WordForms forms_of(std::string_view word);

/// The text in upper case, by language-independent Unicode rules.
std::string to_capitals(std::string_view text);

}  // namespace heed
