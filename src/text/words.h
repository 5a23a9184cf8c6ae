// Which word of a text each piece belongs to, for attention between words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace heed {

struct Words {
  std::vector<std::string>
      texts;                  ///< the words that have pieces, in order; special tokens are words of their own
  std::vector<int> of_piece;  ///< for each piece of the encoding, the index of its word; never falls or skips
};

/// Words are what stands between white space in the text that was encoded. A piece belongs to the word in
/// which its first byte that is no white space stands; one without such a byte (a lone mark of a space) to
/// the word that follows. Text without spaces is one word.
Words group_into_words(std::string_view text, const Encoding& encoding);

/// Whether any character is one, in any script: "dog.", "19", but not "..." or "–".
bool has_letter_or_digit(std::string_view text);

}  // namespace heed
