#include "search/rules/piece_start.h"

#include <unicode/uchar.h>

#include "text/unicode/utf8.h"

namespace heed::search {
namespace {

bool is_digit(std::string_view text, size_t at) {
  return at < text.size() && u_isdigit(static_cast<UChar32>(next_code_point(text, at))) != 0;
}

PieceStart start_of(std::string_view piece) {
  if (piece.empty()) return PieceStart::kOther;
  if (piece.starts_with("<0x") && piece.size() == 6) return PieceStart::kLetter;  // part of a character
  if (is_digit(piece, 0)) return PieceStart::kDigit;
  if (std::string_view(".,:").find(piece[0]) != std::string_view::npos) {
    if (piece.size() == 1) return PieceStart::kSeparator;
    return is_digit(piece, 1) ? PieceStart::kSeparatedDigit : PieceStart::kOther;
  }
  size_t offset = 0;
  const auto first = static_cast<UChar32>(next_code_point(piece, offset));
  return u_isalnum(first) != 0 ? PieceStart::kLetter : PieceStart::kOther;
}

}  // namespace

std::vector<PieceStart> piece_starts(const Vocabulary& vocabulary) {
  std::vector<PieceStart> starts;
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    starts.push_back(start_of(vocabulary.piece(static_cast<int32_t>(id))));
  }
  return starts;
}

}  // namespace heed::search
