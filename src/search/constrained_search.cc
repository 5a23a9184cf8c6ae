#include "search/constrained_search.h"

#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace heed::search {
namespace {

/// Minimum number of hypotheses per bank, maximum number of rows.
constexpr size_t kMinInBank = 4, kMaxRows = 48;

/// Penalty, as log-probability, for a translation that continues where the model predicted the end.
constexpr double kPassedEndPenalty = 5;

}  // namespace

ConstrainedSearch::ConstrainedSearch(SearchSettings settings, std::vector<RequiredPhrase> phrases)
    : BeamSteps(std::move(settings), {.begun = std::vector<bool>(phrases.size())}),
      phrases_(std::move(phrases)),
      width_(std::max({beams_, size_t{4}, std::min(kMaxRows, kMinInBank * banks())})),
      ranked_by_score_(std::ranges::all_of(phrases_, &RequiredPhrase::is_literal)) {
  HEED_CHECK(!phrases_.empty());
}

std::vector<ConstrainedCandidate> ConstrainedSearch::forced_candidates(int32_t id) const {
  std::vector<Candidate> found;
  for (size_t row = 0; row < states_.size(); ++row) {
    found.push_back({states_[row], static_cast<int32_t>(row), id, 0, length_ + 1 == settings_.max_length});
  }
  return found;
}

std::vector<ConstrainedCandidate> ConstrainedSearch::best_candidates(std::span<float> logits) {
  const auto vocabulary = static_cast<size_t>(settings_.vocabulary);
  const auto most = static_cast<int64_t>(std::min(2 * width_, vocabulary));
  const NextTokens& next = read(logits, most);
  std::vector<Candidate> found;
  for (size_t row = 0; row < states_.size(); ++row) {
    State& state = states_[row];
    const bool wants_to_end = std::ranges::count(settings_.end_ids, next.id(row, 0)) > 0;
    if (wants_to_end && state.phrase < 0 && !complete(state)) state.passed_end = true;
    const TokenLogits row_logits{logits.subspan(row * vocabulary, vocabulary), settings_.shortlist};
    const auto log_probability = [&](int32_t id) {
      const float* logit = row_logits.find(id);
      return logit == nullptr ? -std::numeric_limits<float>::infinity()
                              : next.log_probability_of(row, id, *logit);
    };
    if (state.phrase >= 0) {
      const auto phrase = static_cast<size_t>(state.phrase);
      add_phrase(row, phrase, log_probability(phrases_[phrase].ids[state.written]), found);
      continue;
    }
    for (size_t phrase = 0; phrase < phrases_.size(); ++phrase) {
      if (may_begin(state, phrase)) add_phrase(row, phrase, log_probability(phrases_[phrase].ids[0]), found);
    }
    for (int64_t n = 0; n < most && next.id(row, n) >= 0; ++n) {
      add_free(row, next.id(row, n), next.log_probability(row, n), found);
    }
  }
  return found;
}

std::optional<PhraseEnding> ConstrainedSearch::next_ending(Ending ending, int32_t id) const {
  const auto& starts = settings_.options.piece_starts;
  if (ending == Ending::kNone || starts == nullptr) return Ending::kNone;
  const PieceStart start = (*starts)[static_cast<size_t>(id)];
  const bool separator = ending == Ending::kNumberSeparator;
  if (start == PieceStart::kDigit || (start == PieceStart::kLetter && !separator)) return std::nullopt;
  if (ending == Ending::kNumber && start == PieceStart::kSeparatedDigit) return std::nullopt;
  if (ending == Ending::kNumber && start == PieceStart::kSeparator) return Ending::kNumberSeparator;
  return Ending::kNone;
}

/// Of equal phrases, the first one that has not begun: otherwise each order of them would be a hypothesis.
bool ConstrainedSearch::may_begin(const State& state, size_t phrase) const {
  if (state.begun[phrase]) return false;
  for (size_t other = 0; other < phrase; ++other) {
    if (!state.begun[other] && phrases_[other].ids == phrases_[phrase].ids) return false;
  }
  return true;
}

/// A token that belongs to no phrase.
void ConstrainedSearch::add_free(size_t row, int32_t id, float log_probability,
                                 std::vector<Candidate>& found) const {
  const State& state = states_[row];
  const std::optional<Ending> ending = next_ending(state.ending, id);
  if (!ending) return;
  for (const RequiredPhrase& phrase : phrases_) {
    if (phrase.only_once && phrase.ids[0] == id) return;
  }
  Candidate candidate{state, static_cast<int32_t>(row), id, log_probability, false};
  candidate.ends = settings_.ends(tree_, state.node, id, length_ + 1);
  const bool is_end = std::ranges::count(settings_.end_ids, id) > 0;
  if (is_end && !complete(state)) return;
  candidate.state.sum += log_probability;
  candidate.state.compared += log_probability;
  candidate.state.ending = *ending;
  found.push_back(std::move(candidate));
}

/// The next token of a phrase.
void ConstrainedSearch::add_phrase(size_t row, size_t phrase, float log_probability,
                                   std::vector<Candidate>& found) const {
  const State& state = states_[row];
  const RequiredPhrase& required = phrases_[phrase];
  if (!(log_probability > -std::numeric_limits<float>::infinity())) return;
  const int32_t id = required.ids[state.phrase < 0 ? 0 : state.written];
  Candidate candidate{state, static_cast<int32_t>(row), id, log_probability, false};
  State& next = candidate.state;
  next.sum += log_probability;
  next.phrases += log_probability;
  if (state.phrase < 0) next.compared += log_probability;
  next.begun[phrase] = true;
  next.written = state.phrase < 0 ? 1 : state.written + 1;
  next.phrase = static_cast<int32_t>(phrase);
  next.ending = Ending::kNone;
  if (next.written == required.ids.size()) {
    next.phrase = -1;
    next.written = 0;
    if (required.whole_word) next.ending = required.ends_in_digit ? Ending::kNumber : Ending::kWord;
  }
  candidate.ends = length_ + 1 == settings_.max_length;
  found.push_back(std::move(candidate));
}

/// How many candidates of each bank are kept: round-robin, banks with most phrases first, so that what a bank
/// does not use goes to the others.
std::vector<size_t> ConstrainedSearch::bank_sizes(const std::vector<std::vector<Candidate*>>& by_bank) const {
  std::vector<size_t> sizes(by_bank.size(), 0);
  size_t left = width_;
  for (bool more = true; more && left > 0;) {
    more = false;
    for (size_t bank = by_bank.size(); bank-- > 0 && left > 0;) {
      if (sizes[bank] == by_bank[bank].size()) continue;
      ++sizes[bank];
      --left;
      more = true;
    }
  }
  return sizes;
}

/// Keeps the best candidates of each bank.
void ConstrainedSearch::follow(std::vector<Candidate> found, const std::vector<State>& parents) {
  std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(-a.state.compared, a.id, a.row) < std::tuple(-b.state.compared, b.id, b.row);
  });
  std::vector<std::vector<Candidate*>> by_bank(banks());
  for (Candidate& candidate : found) by_bank[bank_of(candidate.state)].push_back(&candidate);
  const std::vector<size_t> sizes = bank_sizes(by_bank);
  for (size_t bank = by_bank.size(); bank-- > 0;) {
    for (size_t n = 0; n < sizes[bank]; ++n) {
      Candidate& candidate = *by_bank[bank][n];
      candidate.state.node = tree_.extend(candidate.state.node, candidate.id, candidate.log_probability);
      candidate.kept = true;
      if (candidate.ends) {
        finish(candidate.state);
      } else {
        run(candidate.row, candidate.id, candidate.state);
      }
    }
  }
  if (settings_.observer != nullptr) observe(observed(found, parents));
}

std::vector<SearchCandidate> ConstrainedSearch::observed(const std::vector<Candidate>& found,
                                                         const std::vector<State>& parents) const {
  std::vector<SearchCandidate> shown;
  size_t dropped = 0;
  for (const Candidate& candidate : found) {
    if (!candidate.kept && dropped++ >= width_) continue;
    shown.push_back({.parent = parents[static_cast<size_t>(candidate.row)].node,
                     .id = candidate.id,
                     .log_probability = candidate.log_probability,
                     .sum = candidate.state.sum,
                     .node = candidate.kept ? candidate.state.node : -1,
                     .finished = candidate.ends});
  }
  return shown;
}

size_t ConstrainedSearch::bank_of(const State& state) const {
  if (phrases_.size() > kMaxInSets) return state.count();
  size_t set = 0;
  for (size_t n = 0; n < phrases_.size(); ++n) set |= state.begun[n] ? size_t{1} << n : 0;
  return set;
}

void ConstrainedSearch::finish(const State& state) {
  finished_.push_back({state.sum, state.phrases, state.node, length_, complete(state), state.passed_end});
}

double ConstrainedSearch::unavoidable() const {
  double best = -std::numeric_limits<double>::infinity();
  for (const Finished& each : finished_) {
    if (each.whole) best = std::max(best, each.phrases);
  }
  return ranked_by_score_ || std::isinf(best) ? 0 : best;
}

double ConstrainedSearch::rank(const Finished& finished, double unavoidable) const {
  const double penalty = finished.passed_end && !ranked_by_score_ ? kPassedEndPenalty : 0;
  return normalized_score(finished.sum - unavoidable - penalty, finished.length - settings_.free,
                          settings_.options.length_penalty);
}

std::vector<ConstrainedSearch::Finished> ConstrainedSearch::best_finished(size_t most) const {
  std::vector<Finished> best = finished_;
  if (std::ranges::any_of(best, &Finished::whole)) {
    std::erase_if(best, [](const Finished& each) { return !each.whole; });
  }
  const double paid = unavoidable();
  std::ranges::stable_sort(best, std::greater<>(), [&](const Finished& each) { return rank(each, paid); });
  if (best.size() > most) best.resize(most);
  return best;
}

bool ConstrainedSearch::nothing_better_to_come() const {
  const std::vector<Finished> best = best_finished(beams_);
  if (best.size() < beams_ || !best.front().whole) return false;
  const double paid = unavoidable(), worst = rank(best.back(), paid);
  return std::ranges::none_of(states_, [&](const State& state) {
    if (ranked_by_score_ && !complete(state)) return false;
    // Who has not begun a phrase has all of them yet to pay.
    const double sum = state.count() == 0 ? state.sum + paid : state.sum;
    return rank({sum, 0, state.node, length_, true, state.passed_end}, paid) > worst;
  });
}

std::vector<Hypothesis> ConstrainedSearch::take() {
  HEED_CHECK(done_);
  std::vector<Hypothesis> hypotheses;
  for (const Finished& each : best_finished(static_cast<size_t>(settings_.options.nbest))) {
    hypotheses.push_back(
        tree_.hypothesis(each.node, each.sum, settings_.options.length_penalty, settings_.free));
  }
  return hypotheses;
}

}  // namespace heed::search
