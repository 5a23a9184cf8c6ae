// BERT's basic tokenizer, which runs before WordPiece: cleans the text, optionally lower-cases it and strips
// accents, and splits it at white space and punctuation (Devlin et al., "BERT: pre-training of deep
// bidirectional transformers for language understanding", 2019, and its code).
//
// Control characters and invalid UTF-8 are removed. Each Chinese character and each punctuation character is
// a word. Accents are stripped by canonical decomposition without its combining marks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/normalization/normalizer.h"

namespace heed {

struct BertWordOptions {
  bool lowercase = true;      ///< by Unicode's mapping of single characters
  bool strip_accents = true;  ///< "é" becomes "e"; also decomposes Hangul syllables
  bool chinese_apart = true;  ///< each CJK ideograph is a word
};

/// The options of the normalizer; its words are those of bert_pre_tokenizer().
BertNormalizerOptions normalizer_options(const BertWordOptions& options);

/// The normalized words of a text.
std::vector<std::string> bert_words(std::string_view text, const BertWordOptions& options);

}  // namespace heed
