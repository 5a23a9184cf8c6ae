#include "translate/parts/term_placement.h"

#include <algorithm>

namespace heed::translate {
namespace {

constexpr double kMinOfBest = 0.2, kMinOfOthers = 0.4;

struct Word {
  TokenRange tokens;
  double attention = 0;  // mean over the tokens
};

std::vector<Word> words_of(const SoftAlignment& alignment, const std::vector<bool>& source_tokens,
                           const std::vector<int>& target_words) {
  std::vector<Word> words;
  int last = -1;
  size_t count = 0;
  for (size_t t = 0; t < target_words.size(); ++t) {
    if (target_words[t] < 0) continue;  // no word, or punctuation
    if (words.empty() || target_words[t] != last) {
      words.push_back({{t, t}, 0});
      count = 0;
    }
    last = target_words[t];
    Word& word = words.back();
    double attention = 0;
    for (size_t s = 0; s < source_tokens.size(); ++s) {
      if (!source_tokens[s]) continue;
      attention += static_cast<double>(alignment.at(static_cast<int64_t>(t), static_cast<int64_t>(s)));
    }
    word.attention =
        (word.attention * static_cast<double>(count) + attention) / static_cast<double>(count + 1);
    word.tokens.end = t + 1;
    ++count;
  }
  return words;
}

}  // namespace

std::optional<TokenRange> aligned_words(const SoftAlignment& alignment,
                                        const std::vector<bool>& source_tokens,
                                        const std::vector<int>& target_words) {
  const std::vector<Word> words = words_of(alignment, source_tokens, target_words);
  const auto best = std::ranges::max_element(words, {}, &Word::attention);
  if (best == words.end() || best->attention < kMinOfBest) return std::nullopt;
  auto first = best, last = best;
  while (first != words.begin() && std::prev(first)->attention >= kMinOfOthers) --first;
  while (std::next(last) != words.end() && std::next(last)->attention >= kMinOfOthers) ++last;
  return TokenRange{first->tokens.begin, last->tokens.end};
}

}  // namespace heed::translate
