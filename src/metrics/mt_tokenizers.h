// The tokenizers of BLEU as defined by sacreBLEU 2.6 (Post, "A call for clarity in reporting BLEU scores",
// 2018). They are only used to count n-grams, not by models.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/text_pipeline.h"

namespace heed {

enum class BleuTokenizer {
  k13a,        ///< "13a": NIST's mteval-v13a, for Western languages
  kNone,       ///< "none": splits at white space
  kChar,       ///< "char": every character
  kIntl,       ///< "intl": NIST's mteval-v14, at Unicode punctuation and symbols
  kZh,         ///< "zh": every Chinese character, and 13a's rules for the rest
  kFlores101,  ///< "flores101": the SentencePiece model of FLORES-101, for any language
  kFlores200,  ///< "flores200": that of FLORES-200
};

/// sacreBLEU's name of a tokenizer, and its inverse, which throws kUsage for an unknown name.
std::string_view bleu_tokenizer_name(BleuTokenizer tokenizer);
BleuTokenizer parse_bleu_tokenizer(std::string_view name);

/// Loads the SentencePiece model of flores101 or flores200 from sacreBLEU's folder: `models/NAME` in
/// $SACREBLEU, by default ~/.sacrebleu. Empty for the other tokenizers. Throws kNotFound, with the expected
/// path and the origin of the file, and those of a SentencePiece model.
std::optional<TextPipeline> load_bleu_pieces(BleuTokenizer tokenizer);

/// The tokens of valid UTF-8 text. flores101 and flores200 need the model of load_bleu_pieces().
std::vector<std::string> tokenize_for_bleu(std::string_view text, BleuTokenizer tokenizer,
                                           const TextPipeline* pieces = nullptr);

/// Python's str.lower(): full Unicode case mapping with final sigma, language-independent.
std::string lower_case(std::string_view text);

}  // namespace heed
