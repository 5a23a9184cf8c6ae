#include "text/pipeline/segmentation/sentencepiece_vocabulary.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "text/pipeline/segmentation/byte_piece.h"

namespace heed {
namespace {

bool is_in_text(SentencePieceType type) {
  return type == SentencePieceType::kNormal || type == SentencePieceType::kSymbol ||
         type == SentencePieceType::kUnused;
}

}  // namespace

SentencePieceVocabulary::SentencePieceVocabulary(const std::string& name,
                                                 std::vector<SentencePieceEntry> pieces, bool byte_fallback)
    : name_(name), pieces_(std::move(pieces)), byte_fallback_(byte_fallback) {
  const auto in_text = static_cast<size_t>(
      std::ranges::count_if(pieces_, [](const SentencePieceEntry& piece) { return is_in_text(piece.type); }));
  if (in_text == 0) broken("it has no pieces of text");
  in_text_ = StringTable(in_text);
  reserved_ = StringTable(pieces_.size() - in_text);
  id_of_byte_.fill(-1);
  for (int32_t id = 0; id < size(); ++id) {
    const auto& [text, score, type] = (*this)[id];
    StringTable& table = is_in_text(type) ? in_text_ : reserved_;
    if (table.find(text) >= 0) broken(fmt::format("piece {}, '{}', is already defined", id, text));
    table.insert(text, id);
    if (type == SentencePieceType::kUnknown && std::exchange(unknown_, id) >= 0)
      broken(fmt::format("piece {} is a second unknown piece", id));
    if (type != SentencePieceType::kByte) continue;
    const int byte = byte_of_piece(text);
    if (byte < 0) broken(fmt::format("its byte piece '{}' is not one of <0x00> to <0xFF>", text));
    if (!byte_fallback) broken("it has byte pieces, but its settings have no byte fallback");
    id_of_byte_[static_cast<size_t>(byte)] = id;
  }
  if (unknown_ < 0) broken("its unknown piece (<unk>) is not defined");
  if (byte_fallback && std::ranges::count(id_of_byte_, -1) > 0)
    broken("it lacks some of the 256 byte pieces of its byte fallback");
}

void SentencePieceVocabulary::broken(const std::string& what) const {
  fail(ErrorKind::kFormat, "{} is not a valid SentencePiece model: {}. Download or train it again", name_,
       what);
}

int SentencePieceVocabulary::byte_of(int32_t id) const {
  return (*this)[id].type == SentencePieceType::kByte ? byte_of_piece((*this)[id].text) : -1;
}

std::vector<std::string> SentencePieceVocabulary::symbols() const {
  std::vector<std::string> symbols;
  for (const SentencePieceEntry& piece : pieces_) {
    if (piece.type == SentencePieceType::kSymbol) symbols.push_back(piece.text);
  }
  return symbols;
}

void SentencePieceVocabulary::resolve_unknown(std::string_view text, size_t first,
                                              std::vector<ModelToken>& tokens) const {
  const auto begin = tokens.begin() + static_cast<ptrdiff_t>(first);
  if (std::none_of(begin, tokens.end(), [](const ModelToken& token) { return token.unknown; })) return;
  const std::vector<ModelToken> found(begin, tokens.end());
  tokens.resize(first);
  for (const ModelToken& token : found) {
    if (token.unknown && byte_fallback_) {
      for (uint32_t at = token.begin; at < token.end; ++at) {
        const bool last = at + 1 == token.end;
        tokens.push_back(
            {id_of_byte_[static_cast<unsigned char>(text[at])], token.begin, last ? token.end : token.begin});
      }
    } else if (token.unknown && tokens.size() > first && tokens.back().unknown) {
      tokens.back().end = token.end;
    } else {
      tokens.push_back(token);
    }
  }
}

}  // namespace heed
