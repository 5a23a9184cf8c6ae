// The tokenizers that machine translation is scored with, as sacreBLEU 2.6 defines them (Post, "A call for
// clarity in reporting BLEU scores", 2018). They split text for counting n-grams; models see none of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/sentencepiece.h"

namespace heed {

enum class BleuTokenizer {
  k13a,        ///< "13a": NIST's mteval-v13a, for Western languages
  kNone,       ///< "none": at white space
  kChar,       ///< "char": every character
  kIntl,       ///< "intl": NIST's mteval-v14, at Unicode punctuation and symbols
  kZh,         ///< "zh": every Chinese character, and 13a's rules for the rest
  kFlores101,  ///< "flores101": the SentencePiece model of FLORES-101, for any language
  kFlores200,  ///< "flores200": that of FLORES-200
};

/// The name that sacreBLEU gives it, and back. Throws kUsage for any other name.
std::string_view bleu_tokenizer_name(BleuTokenizer tokenizer);
BleuTokenizer parse_bleu_tokenizer(std::string_view name);

/// The SentencePiece model of flores101 and flores200, from where sacreBLEU keeps it: `models/NAME` in the
/// folder that $SACREBLEU names, by default ~/.sacrebleu. Nothing for the other tokenizers. Throws kNotFound,
/// saying where the file is expected and where it comes from, and what SentencePieceModel::load throws.
std::optional<SentencePieceModel> load_bleu_pieces(BleuTokenizer tokenizer);

/// The tokens of valid UTF-8 text. flores101 and flores200 need the model of load_bleu_pieces().
std::vector<std::string> tokenize_for_bleu(std::string_view text, BleuTokenizer tokenizer,
                                           const SentencePieceModel* pieces = nullptr);

/// Python's str.lower(): full Unicode case mapping, with final sigma, for no language in particular.
std::string lower_case(std::string_view text);

}  // namespace heed
