#include "search/scoring.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/stop.h"
#include "kernels/reduction/top_k.h"
#include "models/finite_output.h"
#include "models/source_vocabulary.h"
#include "models/vocabulary_head.h"
#include "search/rules/logit_rules.h"
#include "search/sentence_search.h"

namespace heed::search {
namespace {

void require_readable(const models::Seq2Seq& model, const std::vector<int32_t>& ids, const char* which,
                      int64_t vocabulary) {
  if (ids.empty()) fail(ErrorKind::kUsage, "cannot score an empty {}", which);
  if (model.max_length() > 0 && static_cast<int64_t>(ids.size()) > model.max_length()) {
    fail(ErrorKind::kUsage, "cannot score a {} of {} tokens: the model's maximum is {}; split it", which,
         ids.size(), model.max_length());
  }
  for (const int32_t id : ids) {
    if (id < 0 || id >= vocabulary) {
      fail(ErrorKind::kUsage, "a {} contains the id {}, which is out of range for a vocabulary of {}", which,
           id, vocabulary);
    }
  }
}

/// The rules of a search, applied to the logits of one pair.
class PairRules {
 public:
  PairRules(const models::Seq2Seq& model, const SearchOptions& options, const ScoringPair& pair)
      : pair_(pair),
        start_(model.start_id()),
        rules_(with_forbidden(options, {.source = {}, .forbidden = pair.forbidden}), model,
               {{}, max_translation_length(options, model, {.source = pair.source.size()}), 1}),
        keeps_own_(rules_.changes_logits() && !options.renormalize) {
    if (uses_shortlist(options)) shortlist_ = options.shortlist->tokens(pair.source);
  }

  /// Restricts the logits (V) to the shortlist and target[t].
  void keep_listed(size_t t, std::span<float> logits) const {
    if (shortlist_.empty()) return;
    for (size_t id = 0, next = 0; id < logits.size(); ++id) {
      const bool listed = next < shortlist_.size() && shortlist_[next] == static_cast<int32_t>(id);
      next += listed ? 1 : 0;
      if (!listed && static_cast<int32_t>(id) != pair_.target[t]) logits[id] = kForbidden;
    }
  }

  bool forces(size_t t) const { return rules_.forced(static_cast<int64_t>(t)) == pair_.target[t]; }

  /// Applies the rules to the logits (V) of target[t], whose log-sum-exp is `log_sum`.
  void apply(size_t t, float log_sum, std::span<float> logits) const {
    const int32_t id = pair_.target[t];
    const float own = logits[id];
    std::vector<int32_t> history{start_};
    history.insert(history.end(), pair_.target.begin(),
                   pair_.target.begin() + static_cast<std::ptrdiff_t>(t));
    rules_.apply(static_cast<int64_t>(t), history, log_sum, {logits});
    if (logits[id] == kForbidden || keeps_own_) logits[id] = own;
  }

 private:
  const ScoringPair& pair_;
  int32_t start_;
  LogitRules rules_;
  bool keeps_own_;                  // scores are the model's, see NextTokens::log_probability_of()
  std::vector<int32_t> shortlist_;  // the shortlist; empty: all
};

}  // namespace

std::vector<float> log_sums_of(const Tensor& logits) {
  std::vector<float> sums(static_cast<size_t>(logits.dim(0)));
  TopKArguments<float> arguments;
  arguments.rows = logits.dim(0);
  arguments.classes = logits.dim(1);
  arguments.logits = logits.data<float>();
  arguments.log_sums = sums.data();
  top_k(arguments);
  models::require_finite_output(sums);
  return sums;
}

std::vector<float> log_sums_at(std::span<const double> temperatures, std::span<const float> logits,
                               float log_sum) {
  std::vector<float> sums;
  if (temperatures.empty()) return sums;  // as for nearly all tokens that are written
  Tensor scaled = Tensor::empty({1, static_cast<int64_t>(logits.size())});  // (1, V)
  for (const double temperature : temperatures) {
    const auto factor = static_cast<float>(1 / temperature);
    std::transform(logits.begin(), logits.end(), scaled.data<float>(),
                   [&](float logit) { return (logit - log_sum) * factor; });
    sums.push_back(log_sums_of(scaled).front());
  }
  return sums;
}

std::vector<int32_t> likeliest_ids(std::span<const float> logits, size_t count) {
  std::vector<int32_t> ids(std::min(count, logits.size()));
  std::vector<float> values(ids.size());
  TopKArguments<float> arguments;
  arguments.rows = 1;
  arguments.classes = static_cast<int64_t>(logits.size());
  arguments.logits = logits.data();
  arguments.k = static_cast<int64_t>(ids.size());
  arguments.values = values.data();
  arguments.indices = ids.data();
  top_k(arguments);
  std::erase(ids, -1);
  return ids;
}

void visit_predictions(const models::LanguageModel& model, const nn::Context& context,
                       std::span<const int32_t> ids, const PredictionOptions& options,
                       const std::function<void(const Prediction&)>& visit) {
  const auto* head = dynamic_cast<const models::VocabularyHead*>(&model);
  HEED_CHECK(head != nullptr && options.first >= 1);
  if (options.first >= ids.size()) return;
  models::Sequences read;
  read.append(ids.first(ids.size() - 1));
  nn::Context own = context;
  const Tensor hidden = model.hidden(own, read).value();  // (ids.size() - 1, D)
  const int64_t rows = std::max<int64_t>(options.at_once / model.vocabulary_size(), 1);
  for (int64_t begin = static_cast<int64_t>(options.first) - 1; begin < hidden.dim(0); begin += rows) {
    StopScope::check();
    const Tensor some = hidden.narrow(0, begin, std::min(rows, hidden.dim(0) - begin));  // (rows, D)
    const Tensor logits = head->vocabulary_logits(own, some).value();                    // (rows, V)
    const std::vector<float> log_sums = log_sums_of(logits);
    for (int64_t row = 0; row < logits.dim(0); ++row) {
      visit({.index = static_cast<size_t>(begin + row) + 1,
             .logits = {logits.data<float>() + row * logits.dim(1), static_cast<size_t>(logits.dim(1))},
             .log_sum = log_sums[static_cast<size_t>(row)]});
    }
  }
}

std::vector<std::vector<float>> score_pairs(const models::Seq2Seq& model, const nn::Context& context,
                                            const SearchOptions& options,
                                            std::span<const ScoringPair> pairs) {
  models::Sequences sources, inputs;
  for (const ScoringPair& pair : pairs) {
    require_readable(model, pair.source, "source", models::source_vocabulary_size(model));
    require_readable(model, pair.target, "target", model.vocabulary_size());
    sources.append(pair.source);
    std::vector<int32_t> input{model.start_id()};
    input.insert(input.end(), pair.target.begin(), pair.target.end() - 1);
    inputs.append(input);
  }
  nn::Context own = context;
  Tensor logits = model.logits(own, sources, inputs);  // (Nt, V)
  const int64_t vocabulary = logits.dim(1);
  std::vector<PairRules> rules;
  for (const ScoringPair& pair : pairs) rules.emplace_back(model, options, pair);
  const auto for_each_row = [&](const auto& act) {
    float* first = logits.data<float>();
    for (size_t p = 0, row = 0; p < pairs.size(); ++p) {
      for (size_t t = 0; t < pairs[p].target.size(); ++t, ++row, first += vocabulary) {
        act(rules[p], t, row, std::span(first, static_cast<size_t>(vocabulary)));
      }
    }
  };
  for_each_row(
      [](const PairRules& pair, size_t t, size_t, std::span<float> row) { pair.keep_listed(t, row); });
  std::vector<float> before = log_sums_of(logits);
  std::vector<bool> forced(before.size());
  for_each_row([&](const PairRules& pair, size_t t, size_t n, std::span<float> row) {
    forced[n] = pair.forces(t);
    pair.apply(t, before[n], row);
  });
  const std::vector<float> log_sums = options.renormalize ? log_sums_of(logits) : std::move(before);

  std::vector<std::vector<float>> scores;
  int64_t row = 0;
  for (const ScoringPair& pair : pairs) {
    scores.emplace_back();
    for (const int32_t id : pair.target) {
      const float score = logits.data<float>()[row * vocabulary + id] - log_sums[row];
      if (!std::isfinite(score)) models::fail_not_finite();
      scores.back().push_back(forced[row] ? 0 : score);
      ++row;
    }
  }
  return scores;
}

}  // namespace heed::search
