// SentencePiece's rules of decoding.
#include <algorithm>
#include <utility>

#include "text/pipeline/decoder.h"
#include "text/pipeline/segmentation/space_mark.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

/// Appends the characters that bytes spell; an invalid byte becomes U+FFFD.
void append_bytes(std::string_view bytes, std::string& text) {
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = length_of_valid_character(bytes, at);
    text += length == 0 ? std::string_view("\uFFFD") : bytes.substr(at, length);
    at += std::max<size_t>(length, 1);
  }
}

class SentencePieceDecoder : public DecoderStep {
 public:
  explicit SentencePieceDecoder(SentencePieceDecoderOptions options) : options_(std::move(options)) {}

  void apply(std::vector<std::string>& tokens) const override {
    const SentencePieceVocabulary& vocabulary = *options_.vocabulary;
    std::string text, bytes;
    bool at_beginning = true;  // whether a mark of a space is that of the beginning, which decodes to nothing
    bool stripped = false;     // whether the piece before had it
    for (const std::string& piece : tokens) {
      if (piece.empty()) continue;
      const int32_t id = vocabulary.id(piece);
      if (const int byte = vocabulary.byte_of(id); byte >= 0) {
        bytes.push_back(static_cast<char>(byte));
        continue;
      }
      append_bytes(std::exchange(bytes, {}), text);
      if (stripped || !text.empty()) at_beginning = false;
      stripped = false;
      if (vocabulary[id].type == SentencePieceType::kControl) continue;
      if (id == vocabulary.unknown()) {
        text += piece == vocabulary[id].text ? options_.unknown_surface : piece;
        continue;
      }
      std::string_view rest = piece;
      if (at_beginning && options_.strips_space && rest.starts_with(kSpaceMark)) {
        rest.remove_prefix(kSpaceMark.size());
        stripped = !options_.strips_spaces;
      }
      text += marks_to_spaces(rest);
    }
    append_bytes(bytes, text);
    if (options_.denormalizer) text = options_.denormalizer->normalize(text).text();
    text = replace_invalid_utf8(text);
    if (options_.unmarks_unknown) text = marks_to_spaces(text);
    tokens.resize(1);
    tokens[0] = std::move(text);
  }

 private:
  SentencePieceDecoderOptions options_;
};

}  // namespace

std::unique_ptr<DecoderStep> sentencepiece_decoder(SentencePieceDecoderOptions options) {
  return std::make_unique<SentencePieceDecoder>(std::move(options));
}

}  // namespace heed
