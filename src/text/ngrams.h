// Counting n-grams, for BLEU over words and for chrF over characters and words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed {

/// How often each n-gram stands in a sequence. The keys look into the sequence, which must outlive them.
using NgramCounts = std::unordered_map<std::u32string_view, int64_t>;

NgramCounts count_ngrams(std::u32string_view symbols, size_t order);

/// Numbers words, the same word the same number, so that n-grams of words are counted like those of
/// characters.
class WordNumbers {
 public:
  std::u32string number(const std::vector<std::string>& words);

 private:
  std::unordered_map<std::string, char32_t> numbers_;
};

/// Throws unless there is something to score: as many lines in each reference as in the hypothesis, at least
/// one reference and one line (kUsage), all valid UTF-8 (kText). `references[r][n]` belongs to
/// `hypotheses[n]`.
void check_scorable(const std::vector<std::string>& hypotheses,
                    const std::vector<std::vector<std::string>>& references);

/// references[0][n], references[1][n], ...
std::vector<std::string> references_of_line(const std::vector<std::vector<std::string>>& references,
                                            size_t line);

/// The version of sacreBLEU whose numbers and signatures these are.
inline constexpr std::string_view kSacreBleuVersion = "2.6.0";

}  // namespace heed
