// The tokenizers that machine translation is scored with, as sacreBLEU 2.6 defines them (Post, "A call for
// clarity in reporting BLEU scores", 2018). They split text for counting n-grams; models see none of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

enum class BleuTokenizer {
  k13a,   ///< "13a": NIST's mteval-v13a, for Western languages
  kNone,  ///< "none": at white space
  kChar,  ///< "char": every character
  kIntl,  ///< "intl": NIST's mteval-v14, at Unicode punctuation and symbols
};

/// The name that sacreBLEU gives it, and back. Throws kUsage for any other name.
std::string_view bleu_tokenizer_name(BleuTokenizer tokenizer);
BleuTokenizer parse_bleu_tokenizer(std::string_view name);

/// The tokens of valid UTF-8 text.
std::vector<std::string> tokenize_for_bleu(std::string_view text, BleuTokenizer tokenizer);

/// Python's str.lower(): full Unicode case mapping, with final sigma, for no language in particular.
std::string lower_case(std::string_view text);

}  // namespace heed
