// Counts n-grams: of words for BLEU, of characters and words for chrF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed {

/// The count of each n-gram. The keys are views of the sequence, which must outlive them.
using NgramCounts = std::unordered_map<std::u32string_view, int64_t>;

NgramCounts count_ngrams(std::u32string_view symbols, size_t order);

/// Maps words to integers, so that word n-grams are counted like character n-grams.
class WordNumbers {
 public:
  std::u32string number(const std::vector<std::string>& words);

 private:
  std::unordered_map<std::string, char32_t> numbers_;
};

/// Throws kUsage unless there is at least one reference and one line, and all have the same number of lines;
/// kText for invalid UTF-8. `references[r][n]` belongs to `hypotheses[n]`.
void check_scorable(const std::vector<std::string>& hypotheses,
                    const std::vector<std::vector<std::string>>& references);

/// references[0][n], references[1][n], ...
std::vector<std::string> references_of_line(const std::vector<std::vector<std::string>>& references,
                                            size_t line);

/// The version of sacreBLEU whose scores and signatures are reproduced.
inline constexpr std::string_view kSacreBleuVersion = "2.6.0";

}  // namespace heed
