// Placeholder pieces "⟦0⟧", "⟦1⟧", ... replace spans that must not be translated (URLs, code, emojis). A
// model trained with them copies them to the right position.
#pragma once

#include <string>

#include "text/tokenizers/translation_tokenizer.h"
#include "text/tokenizers/vocabulary.h"

namespace heed {

/// "⟦3⟧": a number between U+27E6 and U+27E7.
std::string placeholder_piece(int number);

/// The number of consecutive placeholder pieces, from ⟦0⟧, in a vocabulary, or in both of a tokenizer.
int placeholder_pieces(const Vocabulary& vocabulary);
int placeholder_pieces(const TranslationTokenizer& tokenizer);

}  // namespace heed
