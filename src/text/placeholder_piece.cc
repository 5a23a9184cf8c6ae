#include "text/placeholder_piece.h"

namespace heed {

std::string placeholder_piece(int number) {
  return "\u27e6" + std::to_string(number) + "\u27e7";
}

int placeholder_pieces(const Vocabulary& vocabulary) {
  int count = 0;
  while (vocabulary.find(placeholder_piece(count))) ++count;
  return count;
}

}  // namespace heed
