// How a piece can extend the text before it.
#pragma once

#include <cstdint>
#include <vector>

#include "text/tokenizers/vocabulary.h"

namespace heed::search {

/// What a piece begins with, if no space is before it.
enum class PieceStart : uint8_t {
  kOther,           ///< a space or punctuation: the last word ends
  kLetter,          ///< continues a word
  kDigit,           ///< continues a word or number
  kSeparator,       ///< only ".", "," or ":", which continues a number if a digit follows
  kSeparatedDigit,  ///< ",5": continues a number
};

/// For each piece.
std::vector<PieceStart> piece_starts(const Vocabulary& vocabulary);

}  // namespace heed::search
