// Lines in capitals, which models have rarely seen: the usual form before, capitals again behind.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace heed {

/// Whether a text is written in capitals throughout: at least two words of several letters, and no small
/// letter.
bool is_all_capitals(std::string_view text);

/// Whether all words of a text, at least four with a letter, begin with a capital and go on in small letters.
bool is_title_case(std::string_view text);

/// A word in small letters, or with a capital first letter.
struct WordForms {
  std::string small, capitalized;
};
WordForms forms_of(std::string_view word);

/// The text in capitals, by the Unicode rules without those of single languages.
std::string to_capitals(std::string_view text);

}  // namespace heed
