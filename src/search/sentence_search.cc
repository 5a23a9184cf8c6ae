#include "search/sentence_search.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "kernels/reduction/top_k.h"
#include "models/finite_output.h"
#include "search/beam_search.h"
#include "search/constrained_search.h"
#include "search/rules/sampling.h"

namespace heed::search {

SearchOptions with_forbidden(SearchOptions options, const SearchSentence& sentence) {
  options.forbidden_ids.insert(options.forbidden_ids.end(), sentence.forbidden.begin(),
                               sentence.forbidden.end());
  options.begin_forbidden_ids.insert(options.begin_forbidden_ids.end(), sentence.begin_forbidden.begin(),
                                     sentence.begin_forbidden.end());
  options.second_forbidden_ids.insert(options.second_forbidden_ids.end(), sentence.second_forbidden.begin(),
                                      sentence.second_forbidden.end());
  return options;
}

SearchSettings::SearchSettings(const SearchOptions& search_options, const models::AutoregressiveModel& model,
                               const SearchSentence& sentence)
    : options(search_options),
      random_stream(sentence.random_stream.value_or(sentence.number)),
      prompt(model.prompt(sentence.source)),
      end_ids(end_ids_of(options, model)),
      shortlist(sentence.shortlist),
      vocabulary(shortlist.empty() ? model.vocabulary_size() : static_cast<int64_t>(shortlist.size())),
      max_length(max_translation_length(options, model,
                                        {sentence.source.size(), prompt.size(), sentence.prefix.size()})),
      free(static_cast<int64_t>(sentence.prefix.size())),
      rules(with_forbidden(options, sentence), model,
            {sentence.prefix, max_length, static_cast<int64_t>(prompt.size())}),
      observer(sentence.observer) {}

bool SearchSettings::ends(const HypothesisTree& tree, int32_t parent, int32_t id, int64_t length) const {
  if (std::ranges::count(end_ids, id) > 0 || length == max_length) return true;
  if (!options.ends) return false;
  std::vector<int32_t> ids = tree.ids(parent);
  ids.push_back(id);
  return options.ends(ids);
}

std::unique_ptr<SentenceSearch> make_sentence_search(const SearchOptions& options,
                                                     const models::AutoregressiveModel& model,
                                                     const SearchSentence& sentence) {
  SearchSettings settings(options, model, sentence);
  if (!sentence.required.empty()) {
    return std::make_unique<ConstrainedSearch>(std::move(settings), sentence.required);
  }
  if (options.sample) return std::make_unique<Sampling>(std::move(settings));
  return std::make_unique<BeamSearch>(std::move(settings));
}

int search_width(const SearchOptions& options) {
  return options.sample ? options.nbest : options.beam_size;
}

void FinishedHypotheses::add(const Entry& entry, size_t most) {
  const auto worse = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& other) { return other.score < entry.score; });
  entries_.insert(worse, entry);
  if (entries_.size() > most) entries_.pop_back();
}

std::vector<Hypothesis> FinishedHypotheses::results(const HypothesisTree& tree,
                                                    const SearchSettings& settings) const {
  const auto count = std::min(entries_.size(), static_cast<size_t>(settings.options.nbest));
  std::vector<Hypothesis> hypotheses;
  for (size_t n = 0; n < count; ++n) {
    hypotheses.push_back(
        tree.hypothesis(entries_[n].node, entries_[n].sum, settings.options.length_penalty, settings.free));
  }
  return hypotheses;
}

void NextTokens::read(const RunningHypotheses& running, std::span<float> logits, int64_t most) {
  const SearchSettings& settings = running.settings;
  const size_t rows = running.nodes.size();
  HEED_CHECK(logits.size() == rows * static_cast<size_t>(settings.vocabulary));
  most_ = most;
  values_.resize(rows * most);
  ids_.resize(rows * most);
  log_sums_.resize(rows);
  TopKArguments<float> top;
  top.rows = static_cast<int64_t>(rows);
  top.classes = settings.vocabulary;
  top.logits = logits.data();
  top.log_sums = log_sums_.data();
  const bool before = !settings.options.renormalize || settings.rules.reads_log_sum();
  if (before) top_k(top);
  apply_rules(running, logits);
  top.k = most;
  top.values = values_.data();
  top.indices = ids_.data();
  if (!settings.options.renormalize) top.log_sums = nullptr;
  top_k(top);
  for (int32_t& id : ids_) {
    if (!settings.shortlist.empty() && id >= 0) id = settings.shortlist[id];
  }
  // A logit of -infinity, set by rules or by the model itself, is valid: the token never enters a hypothesis.
  // If all tokens are forbidden, the search ends.
  for (const float log_sum : log_sums_) {
    if (std::isnan(log_sum) || log_sum > std::numeric_limits<float>::max()) models::fail_not_finite();
  }
}

float NextTokens::log_probability_of(size_t row, int32_t id, float logit) const {
  if (!penalized_.empty() && logit > kForbidden) {
    const auto found = penalized_[row].find(id);
    if (found != penalized_[row].end()) logit = found->second;
  }
  return logit - log_sums_[row];
}

void NextTokens::apply_rules(const RunningHypotheses& running, std::span<float> logits) {
  const SearchSettings& settings = running.settings;
  const auto vocabulary = static_cast<size_t>(settings.vocabulary);
  penalized_.clear();
  if (settings.rules.changes_logits() && !settings.options.renormalize)
    penalized_.resize(running.nodes.size());
  for (size_t row = 0; row < running.nodes.size(); ++row) {
    std::vector<int32_t> history;
    if (settings.rules.reads_history()) history = running.tree.ids(running.nodes[row], settings.prompt);
    const TokenLogits of_row{logits.subspan(row * vocabulary, vocabulary), settings.shortlist};
    if (!penalized_.empty()) {
      for (const int32_t id : history) {
        if (const float* logit = of_row.find(id)) penalized_[row].emplace(id, *logit);
      }
    }
    settings.rules.apply(running.length, history, log_sums_[row], of_row);
  }
}

}  // namespace heed::search
