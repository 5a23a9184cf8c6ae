// What beam search and constrained search share: the steps of a search that extends running hypotheses by
// their best candidates until nothing better can come.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "search/sentence_search.h"

namespace heed::search {

/// `State` is a running hypothesis, with `node` and `sum`. `Candidate` is a possible extension of one.
template <typename State, typename Candidate>
class BeamSteps : public SentenceSearch {
 public:
  size_t width() const override { return beams_; }
  const std::vector<Row>& rows() const final { return rows_; }
  bool done() const final { return done_; }

  void advance(std::span<float> logits) final {
    HEED_CHECK(!done_);
    const auto forced = settings_.rules.forced(length_);
    std::vector<Candidate> candidates = forced ? forced_candidates(*forced) : best_candidates(logits);
    if (candidates.empty()) {  // no token is allowed: finish here
      for (const State& state : states_) finish(state);
      done_ = true;
      return;
    }
    ++length_;
    rows_.clear();
    const std::vector<State> parents = std::exchange(states_, {});
    follow(std::move(candidates), parents);
    done_ = rows_.empty() || nothing_better_to_come();
  }

 protected:
  BeamSteps(SearchSettings settings, State start)
      : settings_(std::move(settings)),
        beams_(static_cast<size_t>(settings_.options.beam_size)),
        rows_{{-1, settings_.prompt.back()}},
        states_{std::move(start)} {}

  /// The candidates for a forced token, one for each running hypothesis.
  virtual std::vector<Candidate> forced_candidates(int32_t id) const = 0;
  /// The candidates for the next step; none if no token is allowed.
  virtual std::vector<Candidate> best_candidates(std::span<float> logits) = 0;
  /// Calls run() or finish() for the candidates to keep, and observe(). `parents` are the hypotheses so far.
  virtual void follow(std::vector<Candidate> candidates, const std::vector<State>& parents) = 0;
  /// Keeps a hypothesis of length_ tokens as a result.
  virtual void finish(const State& state) = 0;
  virtual bool nothing_better_to_come() const = 0;

  /// The most probable next tokens of each running hypothesis.
  const NextTokens& read(std::span<float> logits, int64_t most) {
    std::vector<int32_t> nodes;
    for (const State& state : states_) nodes.push_back(state.node);
    next_tokens_.read({settings_, tree_, nodes, length_}, logits, most);
    return next_tokens_;
  }
  /// Continues with a hypothesis that extends row `row` of the last step by `id`.
  void run(int32_t row, int32_t id, State state) {
    rows_.push_back({row, id});
    states_.push_back(std::move(state));
  }
  double score_of(double sum) const {
    return normalized_score(sum, length_ - settings_.free, settings_.options.length_penalty);
  }
  void observe(std::vector<SearchCandidate> candidates) const {
    for (SearchCandidate& each : candidates) {
      if (each.finished) each.score = score_of(each.sum);
    }
    settings_.observer->on_step(candidates);
  }

  SearchSettings settings_;
  size_t beams_;
  HypothesisTree tree_;
  int64_t length_ = 0;         // length of all running hypotheses
  std::vector<Row> rows_;      // requests of the running hypotheses
  std::vector<State> states_;  // for each row
  bool done_ = false;

 private:
  NextTokens next_tokens_;
};

}  // namespace heed::search
