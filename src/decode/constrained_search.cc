#include "decode/constrained_search.h"

#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace heed::decode {
namespace {

/// Minimum number of hypotheses per bank, maximum number of rows.
constexpr size_t kMinInBank = 4, kMaxRows = 48;

/// Penalty, as log-probability, for a translation that continues where the model predicted the end.
constexpr double kPassedEndPenalty = 5;

}  // namespace

ConstrainedSearch::ConstrainedSearch(SearchSettings settings, std::vector<RequiredPhrase> phrases)
    : settings_(std::move(settings)),
      phrases_(std::move(phrases)),
      beams_(static_cast<size_t>(settings_.options.beam_size)),
      width_(std::max({beams_, size_t{4}, std::min(kMaxRows, kMinInBank * banks())})),
      rows_{{-1, settings_.beginning.back()}},
      states_(1),
      ranked_by_score_(std::ranges::all_of(phrases_, &RequiredPhrase::is_literal)) {
  HEED_CHECK(!phrases_.empty());
  states_[0].begun.assign(phrases_.size(), false);
}

void ConstrainedSearch::advance(std::span<float> logits) {
  HEED_CHECK(!done_);
  std::vector<Candidate> found;
  if (const auto forced = settings_.rules.forced(length_)) {
    for (size_t row = 0; row < states_.size(); ++row) {
      Candidate candidate{states_[row], static_cast<int32_t>(row), *forced, 0,
                          length_ + 1 == settings_.max_length};
      found.push_back(std::move(candidate));
    }
  } else {
    found = candidates(logits);
  }
  if (found.empty()) {  // no token is allowed: finish here
    for (const State& state : states_) finish(state);
    done_ = true;
    return;
  }
  ++length_;
  follow(std::move(found));
  if (!rows_.empty() && length_ >= settings_.max_length) {
    for (const State& state : states_) finish(state);
    rows_.clear();
  }
  done_ = rows_.empty() || nothing_better_to_come();
}

std::vector<ConstrainedSearch::Candidate> ConstrainedSearch::candidates(std::span<float> logits) {
  std::vector<int32_t> nodes;
  for (const State& state : states_) nodes.push_back(state.node);
  const auto vocabulary = static_cast<size_t>(settings_.vocabulary);
  const auto most = static_cast<int64_t>(std::min(2 * width_, vocabulary));
  next_tokens_.read(settings_, tree_, nodes, length_, logits, most);
  std::vector<Candidate> found;
  for (size_t row = 0; row < states_.size(); ++row) {
    State& state = states_[row];
    const bool wants_to_end = std::ranges::count(settings_.end_ids, next_tokens_.id(row, 0)) > 0;
    if (wants_to_end && state.phrase < 0 && !complete(state)) state.passed_end = true;
    const TokenLogits row_logits{logits.subspan(row * vocabulary, vocabulary), settings_.shortlist};
    const auto log_probability = [&](int32_t id) {
      const float* logit = row_logits.find(id);
      return logit == nullptr ? -std::numeric_limits<float>::infinity() : *logit - next_tokens_.log_sum(row);
    };
    if (state.phrase >= 0) {
      const auto phrase = static_cast<size_t>(state.phrase);
      add_phrase(row, phrase, log_probability(phrases_[phrase].ids[state.written]), found);
      continue;
    }
    for (size_t phrase = 0; phrase < phrases_.size(); ++phrase) {
      if (!state.begun[phrase]) add_phrase(row, phrase, log_probability(phrases_[phrase].ids[0]), found);
    }
    for (int64_t n = 0; n < most && next_tokens_.id(row, n) >= 0; ++n) {
      add_free(row, next_tokens_.id(row, n), next_tokens_.log_probability(row, n), found);
    }
  }
  return found;
}

std::optional<ConstrainedSearch::Ending> ConstrainedSearch::next_ending(Ending ending, int32_t id) const {
  const auto& starts = settings_.options.piece_starts;
  if (ending == Ending::kNone || starts == nullptr) return Ending::kNone;
  const PieceStart start = (*starts)[static_cast<size_t>(id)];
  const bool separator = ending == Ending::kNumberSeparator;
  if (start == PieceStart::kDigit || (start == PieceStart::kLetter && !separator)) return std::nullopt;
  if (ending == Ending::kNumber && start == PieceStart::kSeparatedDigit) return std::nullopt;
  if (ending == Ending::kNumber && start == PieceStart::kSeparator) return Ending::kNumberSeparator;
  return Ending::kNone;
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

/// Keeps the best candidates of each bank. Places that a bank does not use go to the others.
void ConstrainedSearch::follow(std::vector<Candidate> found) {
  std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(-a.state.compared, a.id, a.row) < std::tuple(-b.state.compared, b.id, b.row);
  });
  std::vector<std::vector<Candidate*>> by_bank(banks());
  for (Candidate& candidate : found) by_bank[bank_of(candidate.state)].push_back(&candidate);

  std::vector<size_t> places(by_bank.size(), 0);
  size_t left = width_;
  for (bool more = true; more && left > 0;) {  // round-robin, banks with most phrases first
    more = false;
    for (size_t bank = by_bank.size(); bank-- > 0 && left > 0;) {
      if (places[bank] == by_bank[bank].size()) continue;
      ++places[bank];
      --left;
      more = true;
    }
  }
  std::vector<int32_t> parents;  // for the observer
  for (const Candidate& candidate : found) parents.push_back(candidate.state.node);
  std::vector<Row> rows;
  std::vector<State> states;
  for (size_t bank = by_bank.size(); bank-- > 0;) {
    for (size_t n = 0; n < places[bank]; ++n) {
      Candidate& candidate = *by_bank[bank][n];
      candidate.state.node = tree_.extend(candidate.state.node, candidate.id, candidate.log_probability);
      candidate.kept = true;
      if (candidate.ends) {
        finish(candidate.state);
      } else {
        rows.push_back({candidate.row, candidate.id});
        states.push_back(candidate.state);
      }
    }
  }
  rows_ = std::move(rows);
  states_ = std::move(states);
  if (settings_.observer != nullptr) observe(found, parents);
}

void ConstrainedSearch::observe(const std::vector<Candidate>& found,
                                const std::vector<int32_t>& parents) const {
  std::vector<SearchCandidate> observed;
  size_t dropped = 0;
  for (size_t n = 0; n < found.size(); ++n) {
    const Candidate& candidate = found[n];
    if (!candidate.kept && dropped++ >= width_) continue;
    SearchCandidate seen{.parent = parents[n],
                         .id = candidate.id,
                         .log_probability = candidate.log_probability,
                         .sum = candidate.state.sum,
                         .node = candidate.kept ? candidate.state.node : -1,
                         .finished = candidate.ends};
    if (candidate.ends) {
      seen.score =
          normalized_score(candidate.state.sum, length_ - settings_.free, settings_.options.length_penalty);
    }
    observed.push_back(seen);
  }
  settings_.observer->on_step(observed);
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

}  // namespace heed::decode
