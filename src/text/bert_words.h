// The words of BERT's tokenizer, before they are cut into pieces: text cleaned, folded, and split at white
// space and punctuation (Devlin et al., "BERT: pre-training of deep bidirectional transformers for language
// understanding", 2019, and the code that came with it).
//
// Control characters and what is not UTF-8 vanish; white space separates; a Chinese character or a mark of
// punctuation is a word by itself. Folding makes lower case, and drops accents: what is left of the canonical
// decomposition without its combining marks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct BertWordOptions {
  bool lowercase = true;      ///< by Unicode's mapping of each character
  bool strip_accents = true;  ///< "é" becomes "e"; syllables of Hangul become their letters, too
  bool chinese_apart = true;  ///< each character of the blocks of Chinese ideographs is a word
};

/// A folded word, and the bytes of the original text that each of its characters stands for.
struct BertWord {
  struct Character {
    size_t offset = 0;          ///< where it begins in `text`
    size_t begin = 0, end = 0;  ///< the bytes [begin, end) of the original text
  };
  std::string text;
  std::vector<Character> characters;
};

std::vector<BertWord> bert_words(std::string_view text, const BertWordOptions& options);

}  // namespace heed
