#include "search/beam_search.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace heed::search {

using models::EarlyStopping;

std::vector<BeamCandidate> BeamSearch::best_candidates(std::span<float> logits) {
  const size_t considered = std::max<size_t>(2, 1 + settings_.end_ids.size()) * beams_;
  const auto most = static_cast<int64_t>(considered);
  const NextTokens& next = read(logits, most);
  std::vector<BeamCandidate> candidates;
  for (size_t row = 0; row < states_.size(); ++row) {
    for (int64_t n = 0; n < most && next.id(row, n) >= 0; ++n) {
      const float log_probability = next.log_probability(row, n);
      candidates.push_back(
          {states_[row].sum + log_probability, next.id(row, n), static_cast<int32_t>(row), log_probability});
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const BeamCandidate& a, const BeamCandidate& b) {
    return std::tuple(-a.sum, a.id, a.row) < std::tuple(-b.sum, b.id, b.row);
  });
  if (candidates.size() > considered) candidates.resize(considered);
  return candidates;
}

/// The order stays, since a forced token has log-probability 0 for all hypotheses.
std::vector<BeamCandidate> BeamSearch::forced_candidates(int32_t id) const {
  std::vector<BeamCandidate> candidates;
  for (size_t row = 0; row < states_.size(); ++row) {
    candidates.push_back({states_[row].sum, id, static_cast<int32_t>(row), 0});
  }
  return candidates;
}

void BeamSearch::follow(std::vector<BeamCandidate> candidates, const std::vector<Beam>& parents) {
  std::vector<SearchCandidate> observed;
  for (size_t rank = 0; rank < candidates.size(); ++rank) {
    const auto& [sum, id, row, log_probability] = candidates[rank];
    const int32_t parent = parents[static_cast<size_t>(row)].node;
    const bool ends = settings_.ends(tree_, parent, id, length_);
    if (settings_.observer != nullptr) observed.push_back({parent, id, log_probability, sum, -1, ends});
    if (ends ? rank >= beams_ : rows_.size() == beams_) continue;
    const Beam beam{tree_.extend(parent, id, log_probability), sum};
    if (!observed.empty()) observed.back().node = beam.node;
    if (ends) {
      finish(beam);
    } else {
      run(row, id, beam);
    }
  }
  if (settings_.observer != nullptr) observe(std::move(observed));
}

void BeamSearch::finish(const Beam& beam) {
  finished_.add({score_of(beam.sum), beam.sum, beam.node}, beams_);
}

bool BeamSearch::nothing_better_to_come() const {
  if (finished_.size() < beams_) return false;
  const double penalty = settings_.options.length_penalty;
  EarlyStopping rule = settings_.options.early_stopping;
  if (beams_ == 1) rule = EarlyStopping::kTrue;
  if (rule == EarlyStopping::kTrue) return true;
  const int64_t length = rule == EarlyStopping::kNever && penalty > 0 ? settings_.max_length : length_;
  return normalized_score(states_.front().sum, length - settings_.free, penalty) <= finished_.worst().score;
}

std::vector<int32_t> BeamSearch::ids_so_far() const {
  if (beams_ > 1) return {};
  return tree_.ids(done_ ? finished_.best().node : states_.front().node);
}

std::vector<Hypothesis> BeamSearch::take() {
  HEED_CHECK(done_);
  return finished_.results(tree_, settings_);
}

}  // namespace heed::search
