#include "translate/words/alignment_head_choice.h"

#include <algorithm>
#include <functional>
#include <mutex>
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

using Links = std::vector<WordLink>;

Links token_links(const LinkedPair& pair, const SoftAlignment& soft) {
  auto links = word_alignment(soft, token_words(pair.source.size()), token_words(pair.target.size()));
  std::sort(links.begin(), links.end());
  return links;
}

/// The error rates of head selections on the pairs.
class HeadSelections {
 public:
  HeadSelections(const models::Seq2Seq& model, const nn::Context& context,
                 const std::vector<LinkedPair>& pairs, ThreadPool& pool)
      : model_(model), context_(context), pairs_(pairs), pool_(pool) {}

  /// Of the mean of the last layer's heads.
  double default_error_rate() const {
    return error_rates(1, [&](const LinkedPair& pair) {
      return std::vector<Links>{
          token_links(pair, soft_alignment(model_, context_, pair.source, pair.target))};
    })[0];
  }

  /// Of these heads with each one of all heads as well. The alignments of all heads of a pair take much
  /// memory, so they are computed again, pair by pair.
  std::vector<double> error_rates_with_each(const std::vector<size_t>& heads, size_t all) const {
    return error_rates(all, [&](const LinkedPair& pair) {
      const std::vector<HeadAlignment> soft = every_head(model_, context_, pair.source, pair.target);
      std::vector<const SoftAlignment*> chosen;
      for (const size_t each : heads) chosen.push_back(&soft[each].soft);
      std::vector<Links> links;
      for (const HeadAlignment& head : soft) {
        chosen.push_back(&head.soft);
        links.push_back(token_links(pair, mean_alignment(chosen)));
        chosen.pop_back();
      }
      return links;
    });
  }

 private:
  /// `links_of` gives the links of a pair for each of `selections`.
  std::vector<double> error_rates(
      size_t selections, const std::function<std::vector<Links>(const LinkedPair&)>& links_of) const {
    std::vector<AlignmentScore> scores(selections);
    std::mutex adding;  // counts, which have the same sum in any order
    pool_.run(pairs_.size(), [&](size_t n) {
      const std::vector<Links> links = links_of(pairs_[n]);
      const std::lock_guard lock(adding);
      for (size_t each = 0; each < selections; ++each) scores[each].add(links[each], pairs_[n].links);
    });
    std::vector<double> rates;
    for (const AlignmentScore& score : scores) rates.push_back(score.error_rate());
    return rates;
  }

  const models::Seq2Seq& model_;
  const nn::Context& context_;
  const std::vector<LinkedPair>& pairs_;
  ThreadPool& pool_;
};

}  // namespace

HeadChoice choose_alignment_heads(const models::Seq2Seq& model, const nn::Context& context,
                                  const std::vector<LinkedPair>& pairs, ThreadPool& pool) {
  HEED_CHECK(!pairs.empty());
  std::vector<models::AlignmentHead> heads;
  for (const HeadAlignment& each : every_head(model, context, pairs[0].source, pairs[0].target))
    heads.push_back(each.head);
  const HeadSelections selections(model, context, pairs, pool);
  HeadChoice choice;
  choice.default_error_rate = choice.error_rate = selections.default_error_rate();
  std::vector<size_t> chosen;
  while (chosen.size() < std::min(kMaxHeads, heads.size())) {
    std::vector<double> rates = selections.error_rates_with_each(chosen, heads.size());
    for (const size_t each : chosen) rates[each] = 2;   // not again
    const auto best = std::ranges::min_element(rates);  // of equal ones, the first
    if (*best > choice.error_rate - kMinGain) break;
    choice.error_rate = *best;
    chosen.push_back(static_cast<size_t>(best - rates.begin()));
    choice.heads.push_back(heads[chosen.back()]);
  }
  return choice;
}

}  // namespace heed::translate
