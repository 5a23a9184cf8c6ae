#include "text/training/bert_words.h"

#include "text/pipeline/words/pre_tokenizer.h"

namespace heed {

BertNormalizerOptions normalizer_options(const BertWordOptions& options) {
  return {.clean_text = true,
          .chinese_apart = options.chinese_apart,
          .strip_accents = options.strip_accents,
          .lowercase = options.lowercase};
}

std::vector<std::string> bert_words(std::string_view text, const BertWordOptions& options) {
  CutText cut{AlignedText(text, 0, text.size()), {}};
  bert_normalizer(normalizer_options(options))->apply(cut.all);
  cut.pieces.push_back({0, static_cast<uint32_t>(cut.all.size())});
  bert_pre_tokenizer()->apply(cut);
  std::vector<std::string> words;
  for (const CutText::Piece& piece : cut.pieces) words.emplace_back(cut.all.text(piece.begin, piece.end));
  return words;
}

}  // namespace heed
