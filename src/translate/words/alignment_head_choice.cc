#include "translate/words/alignment_head_choice.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "translate/words/word_alignment.h"

namespace heed::translate {
namespace {

constexpr size_t kMaxHeads = 4;
constexpr double kMinGain = 0.002;  // reduction of the error rate required for another head

/// Each token counts as a word, except for the end token.
std::vector<int> token_words(size_t tokens) {
  std::vector<int> words(tokens);
  std::iota(words.begin(), words.end(), 0);
  if (!words.empty()) words.back() = kNoWord;
  return words;
}

std::vector<WordLink> token_links(const LinkedPair& pair, const SoftAlignment& soft) {
  auto links = word_alignment(soft, token_words(pair.source.size()), token_words(pair.target.size()));
  std::sort(links.begin(), links.end());
  return links;
}

}  // namespace

HeadChoice choose_alignment_heads(const models::Seq2Seq& model, const nn::Context& context,
                                  const std::vector<LinkedPair>& pairs, ThreadPool& pool) {
  HEED_CHECK(!pairs.empty());
  std::vector<std::vector<HeadAlignment>> soft(pairs.size());
  std::vector<std::vector<WordLink>> links(pairs.size());
  pool.run(pairs.size(), [&](size_t n) {
    soft[n] = every_head(model, context, pairs[n].source, pairs[n].target);
    links[n] = token_links(pairs[n], soft_alignment(model, context, pairs[n].source, pairs[n].target));
  });
  const auto error_rate = [&] {
    AlignmentScore score;
    for (size_t n = 0; n < pairs.size(); ++n) score.add(links[n], pairs[n].links);
    return score.error_rate();
  };
  HeadChoice choice;
  choice.default_error_rate = choice.error_rate = error_rate();
  const auto error_rate_of = [&](const std::vector<size_t>& heads) {
    pool.run(pairs.size(), [&](size_t n) {
      std::vector<const SoftAlignment*> chosen;
      for (const size_t each : heads) chosen.push_back(&soft[n][each].soft);
      links[n] = token_links(pairs[n], mean_alignment(chosen));
    });
    return error_rate();
  };
  std::vector<size_t> chosen;
  while (chosen.size() < std::min(kMaxHeads, soft[0].size())) {
    size_t best = 0;
    double best_rate = 2;
    for (size_t head = 0; head < soft[0].size(); ++head) {
      if (std::ranges::count(chosen, head) > 0) continue;
      chosen.push_back(head);
      const double rate = error_rate_of(chosen);
      chosen.pop_back();
      if (rate < best_rate) {
        best = head;
        best_rate = rate;
      }
    }
    if (best_rate > choice.error_rate - kMinGain) break;
    choice.error_rate = best_rate;
    chosen.push_back(best);
    choice.heads.push_back(soft[0][best].head);
  }
  return choice;
}

}  // namespace heed::translate
