#include "text/tokenizers/piece_coder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace heed {

bool is_marian_language_code(std::string_view piece) {
  return piece.starts_with(">>") && piece.ends_with("<<");
}

std::string_view language_of_marian_code(std::string_view code) {
  HEED_CHECK(is_marian_language_code(code));
  return code.substr(2, code.size() - 4);
}

// ---- SentencePiece ----------------------------------------------------------------------------------------

std::vector<CodedPiece> SentencePieceCoder::coded(std::vector<Piece> pieces) const {
  std::vector<CodedPiece> result;
  result.reserve(pieces.size());
  for (Piece& piece : pieces) {
    const int32_t id = vocabulary_->id(piece.text);
    const bool text = !vocabulary_->is_special(id) && !is_marian_language_code(piece.text);
    result.push_back({text ? id : vocabulary_->unknown_id(), std::move(piece.text), piece.begin, piece.end});
  }
  return result;
}

std::vector<CodedPiece> SentencePieceCoder::encode(std::string_view text) const {
  return coded(model_.encode(text));
}

std::vector<std::vector<CodedPiece>> SentencePieceCoder::sample(std::string_view text,
                                                                const SubwordSampling& sampling,
                                                                Random& random) const {
  std::vector<std::vector<CodedPiece>> result;
  for (std::vector<Piece>& pieces : model_.sample(text, sampling, random)) {
    result.push_back(coded(std::move(pieces)));
  }
  return result;
}

std::string SentencePieceCoder::decode(std::span<const int32_t> ids) const {
  std::vector<std::string> pieces;
  pieces.reserve(ids.size());
  for (const int32_t id : ids) {
    const std::string& piece = vocabulary_->piece(id);
    if (!vocabulary_->is_special(id)) pieces.push_back(piece);
  }
  // Unknown pieces, such as those of the other language, are decoded with their space marker.
  return marks_to_spaces(model_.decode(pieces));
}

// ---- tokenizer.json ---------------------------------------------------------------------------------------

std::vector<CodedPiece> PipelineCoder::encode(std::string_view text) const {
  const PipelineEncoding encoding = pipeline_.encode(
      text, {.adds_special = false, .tokens = false, .read = {.special_tokens = false, .also = in_text_}});
  const auto spans = separate_byte_spans(text, encoding.offsets);
  std::vector<CodedPiece> pieces;
  pieces.reserve(spans.size());
  for (size_t n = 0; n < spans.size(); ++n) {
    pieces.push_back({encoding.ids[n], vocabulary_->piece(encoding.ids[n]), spans[n].first, spans[n].second});
  }
  return pieces;
}

std::vector<std::vector<CodedPiece>> PipelineCoder::sample(std::string_view, const SubwordSampling&,
                                                           Random&) const {
  fail(ErrorKind::kUsage,
       "a tokenizer.json has one segmentation of a text: set tokenizer.subword_regularization to 0");
}

std::string PipelineCoder::decode(std::span<const int32_t> ids) const {
  std::vector<int32_t> text;
  text.reserve(ids.size());
  for (const int32_t id : ids) {
    // The model may have more rows than there are tokens; those have no text.
    if (id >= static_cast<int32_t>(vocabulary_->size())) continue;
    vocabulary_->piece(id);  // throws for an invalid id
    if (!vocabulary_->is_special(id)) text.push_back(id);
  }
  return pipeline_.decode(text);
}

}  // namespace heed
