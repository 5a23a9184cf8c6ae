// Beam search for one sentence, step by step like Hugging Face's generate().
//
// The candidates are all running hypotheses times all tokens, of which the best (1 + E) beam_size are
// considered, E the number of end tokens, at least 1: at most E beam_size of them end, so beam_size are left
// to continue. A candidate that ends is finished only if it is among the best beam_size; the best beam_size
// that do not end continue. The best beam_size finished ones are kept, by score = (sum of log-probabilities)
// / n^length_penalty.
//
// Ties are broken by lower token id, then by the rank of the hypothesis. With beam size 1 the search is
// greedy: it ends as soon as the end token is the most probable one.
#pragma once

#include <utility>
#include <vector>

#include "search/beam_steps.h"

namespace heed::search {

/// A running hypothesis of a beam search.
struct Beam {
  int32_t node = HypothesisTree::kRoot;
  double sum = 0;  ///< of log-probabilities
};

/// A running hypothesis and its possible next token.
struct BeamCandidate {
  double sum;
  int32_t id;
  int32_t row;
  float log_probability;
};

class BeamSearch : public BeamSteps<Beam, BeamCandidate> {
 public:
  explicit BeamSearch(SearchSettings settings) : BeamSteps(std::move(settings), {}) {}

  std::vector<int32_t> ids_so_far() const override;
  std::vector<Hypothesis> take() override;

 private:
  std::vector<BeamCandidate> forced_candidates(int32_t id) const override;
  std::vector<BeamCandidate> best_candidates(std::span<float> logits) override;
  void follow(std::vector<BeamCandidate> candidates, const std::vector<Beam>& parents) override;
  void finish(const Beam& beam) override;
  bool nothing_better_to_come() const override;

  FinishedHypotheses finished_;
};

}  // namespace heed::search
