#include "text/terms/placeholder_piece.h"

#include <algorithm>

namespace heed {

std::string placeholder_piece(int number) {
  return "\u27e6" + std::to_string(number) + "\u27e7";
}

int placeholder_pieces(const Vocabulary& vocabulary) {
  int count = 0;
  while (vocabulary.find(placeholder_piece(count))) ++count;
  return count;
}

int placeholder_pieces(const TranslationTokenizer& tokenizer) {
  return std::min(placeholder_pieces(tokenizer.vocabulary()),
                  placeholder_pieces(tokenizer.source_vocabulary()));
}

}  // namespace heed
