// Pieces that stand in a sentence for something that is not to be translated (an address, code, an emoji):
// "⟦0⟧", "⟦1⟧", ... A model that was trained with them copies them, each to its place.
#pragma once

#include <string>

#include "text/vocabulary.h"

namespace heed {

/// "⟦3⟧": the number between U+27E6 and U+27E7.
std::string placeholder_piece(int number);

/// How many of them a vocabulary holds, from number 0 on without a gap.
int placeholder_pieces(const Vocabulary& vocabulary);

}  // namespace heed
