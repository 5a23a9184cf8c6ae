#include "text/readers/sentencepiece_parts.h"

#include <utility>

#include "base/check.h"

namespace heed {
namespace {

std::unique_ptr<const TokenModel> segmentation_model(
    SentencePieceModelType type, std::shared_ptr<const SentencePieceVocabulary> vocabulary) {
  switch (type) {
    case SentencePieceModelType::kUnigram:
      return sentencepiece_unigram_model(std::move(vocabulary));
    case SentencePieceModelType::kBpe:
    case SentencePieceModelType::kChar:
      return sentencepiece_bpe_model(std::move(vocabulary), type == SentencePieceModelType::kBpe);
    case SentencePieceModelType::kWord:
      return sentencepiece_word_model(std::move(vocabulary));
  }
  HEED_CHECK(false);
}

}  // namespace

PipelineParts sentencepiece_parts(const SentencePieceFile& file, const std::string& name,
                                  bool unmarks_unknown) {
  const auto vocabulary =
      std::make_shared<const SentencePieceVocabulary>(name, file.pieces, file.byte_fallback);
  PipelineParts parts{.path = name};
  for (const SentencePieceEntry& piece : file.pieces) parts.pieces.push_back(piece.text);
  parts.sentencepiece.emplace(file.normalizer, vocabulary->symbols());
  parts.model = segmentation_model(file.type, vocabulary);
  SentencePieceDecoderOptions decoder{
      .vocabulary = vocabulary,
      .unknown_surface = file.unknown_surface,
      .strips_space = file.normalizer.adds_space || file.normalizer.removes_spaces,
      .strips_spaces = file.normalizer.removes_spaces,
      .unmarks_unknown = unmarks_unknown};
  if (!file.denormalizer.charsmap.empty()) decoder.denormalizer.emplace(file.denormalizer);
  parts.decoder.emplace();
  parts.decoder->push_back(sentencepiece_decoder(std::move(decoder)));
  return parts;
}

}  // namespace heed
