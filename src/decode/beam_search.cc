#include "decode/beam_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace heed::decode {

using models::EarlyStopping;

BeamSearch::BeamSearch(SearchSettings settings)
    : settings_(std::move(settings)),
      beams_(static_cast<size_t>(settings_.options.beam_size)),
      rows_{{-1, settings_.beginning.back()}},
      nodes_{HypothesisTree::kRoot},
      sums_{0} {}

void BeamSearch::advance(std::span<float> logits) {
  HEED_CHECK(!done_);
  const auto forced = settings_.rules.forced(length_);
  const std::vector<Candidate> candidates = forced ? forced_candidates(*forced) : best_candidates(logits);
  if (candidates.empty()) {  // no token is allowed: finish here
    for (size_t row = 0; row < nodes_.size(); ++row) finish(nodes_[row], sums_[row]);
    done_ = true;
    return;
  }
  ++length_;
  follow(candidates);
  done_ = rows_.empty() || nothing_better_to_come();
}

std::vector<BeamSearch::Candidate> BeamSearch::best_candidates(std::span<float> logits) {
  const auto most = static_cast<int64_t>(2 * beams_);
  next_tokens_.read(settings_, tree_, nodes_, length_, logits, most);
  std::vector<Candidate> candidates;
  for (size_t row = 0; row < nodes_.size(); ++row) {
    for (int64_t n = 0; n < most && next_tokens_.id(row, n) >= 0; ++n) {
      const float log_probability = next_tokens_.log_probability(row, n);
      candidates.push_back({sums_[row] + log_probability, next_tokens_.id(row, n), static_cast<int32_t>(row),
                            log_probability});
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(-a.sum, a.id, a.row) < std::tuple(-b.sum, b.id, b.row);
  });
  if (candidates.size() > 2 * beams_) candidates.resize(2 * beams_);
  return candidates;
}

/// The order stays, since a forced token has log-probability 0 for all hypotheses.
std::vector<BeamSearch::Candidate> BeamSearch::forced_candidates(int32_t id) const {
  std::vector<Candidate> candidates;
  for (size_t row = 0; row < nodes_.size(); ++row) {
    candidates.push_back({sums_[row], id, static_cast<int32_t>(row), 0});
  }
  return candidates;
}

void BeamSearch::follow(const std::vector<Candidate>& candidates) {
  std::vector<Row> rows;
  std::vector<int32_t> nodes;
  std::vector<double> sums;
  std::vector<SearchCandidate> observed;
  for (size_t rank = 0; rank < candidates.size(); ++rank) {
    const Candidate& candidate = candidates[rank];
    const bool ends = settings_.ends(tree_, nodes_[candidate.row], candidate.id, length_);
    if (settings_.observer != nullptr) {
      observed.push_back(
          {nodes_[candidate.row], candidate.id, candidate.log_probability, candidate.sum, -1, ends});
    }
    if (ends ? rank >= beams_ : rows.size() == beams_) continue;
    const int32_t node = tree_.extend(nodes_[candidate.row], candidate.id, candidate.log_probability);
    if (!observed.empty()) observed.back().node = node;
    if (ends) {
      finish(node, candidate.sum);
    } else {
      rows.push_back({candidate.row, candidate.id});
      nodes.push_back(node);
      sums.push_back(candidate.sum);
    }
  }
  rows_ = std::move(rows);
  nodes_ = std::move(nodes);
  sums_ = std::move(sums);
  if (settings_.observer == nullptr) return;
  for (SearchCandidate& candidate : observed) {
    if (!candidate.finished) continue;
    candidate.score =
        normalized_score(candidate.sum, length_ - settings_.free, settings_.options.length_penalty);
  }
  settings_.observer->on_step(observed);
}

void BeamSearch::finish(int32_t node, double sum) {
  const double score = normalized_score(sum, length_ - settings_.free, settings_.options.length_penalty);
  finished_.add({score, sum, node}, beams_);
}

bool BeamSearch::nothing_better_to_come() const {
  if (finished_.size() < beams_) return false;
  const double penalty = settings_.options.length_penalty;
  EarlyStopping rule = settings_.options.early_stopping;
  if (beams_ == 1) rule = EarlyStopping::kTrue;
  if (rule == EarlyStopping::kTrue) return true;
  const int64_t length = rule == EarlyStopping::kNever && penalty > 0 ? settings_.max_length : length_;
  return normalized_score(sums_.front(), length - settings_.free, penalty) <= finished_.worst().score;
}

std::vector<int32_t> BeamSearch::ids_so_far() const {
  if (beams_ > 1) return {};
  return tree_.ids(done_ ? finished_.best().node : nodes_.front());
}

std::vector<Hypothesis> BeamSearch::take() {
  HEED_CHECK(done_);
  return finished_.results(tree_, settings_);
}

}  // namespace heed::decode
