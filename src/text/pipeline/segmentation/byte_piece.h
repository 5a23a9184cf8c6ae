// Byte pieces of vocabularies: "<0x0A>".
#pragma once

#include <string_view>

namespace heed {

/// The byte that a piece spells, in upper-case digits; -1 for other pieces.
constexpr int byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return -1;
  int byte = 0;
  for (const char digit : piece.substr(3, 2)) {
    if (digit >= '0' && digit <= '9') {
      byte = byte * 16 + (digit - '0');
    } else if (digit >= 'A' && digit <= 'F') {
      byte = byte * 16 + (digit - 'A' + 10);
    } else {
      return -1;
    }
  }
  return byte;
}

}  // namespace heed
