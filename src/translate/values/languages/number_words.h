// Number words that stand one after the other, as in English ("two hundred and five") and Spanish
// ("doscientos cinco"), read by one table of words and their roles. German joins them (german.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "translate/values/languages/value_language.h"

namespace heed::translate {

struct NumberWord {
  enum class Role {
    kUnit,      ///< 1 to 9
    kTeen,      ///< 10 to 29, complete in itself
    kTen,       ///< 20 to 90; a unit may follow
    kHundred,   ///< "hundred": multiplies what is before it
    kHundreds,  ///< "doscientos": 100 to 900
    kThousand,  ///< multiplies what is before it, if anything
  };
  std::string_view word;
  int64_t value;
  Role role;
  bool ordinal = false;  ///< ends the number: "second"
};

struct NumberGrammar {
  std::span<const NumberWord> words;
  std::string_view after_ten;       ///< between tens and units: "-", "y"
  bool after_ten_optional = false;  ///< "twenty one"
  std::string_view after_hundred;   ///< "and"; empty: none
  bool years = false;               ///< "nineteen eighty-four" is 1984
};

/// The number that `tokens` begin with.
std::optional<WordNumber> read_number_words(const NumberGrammar& grammar, TextTokens tokens);

/// The number of a phrase of words that say a number by the way, "both" and "dozen", or of an article.
std::optional<WordNumber> read_optional_number(std::span<const Phrase<int>> words, TextTokens tokens);

}  // namespace heed::translate
