// Beam search for one sentence, step by step like Hugging Face's generate().
//
// The candidates are all running hypotheses times all tokens, of which the best 2 * beam_size are considered.
// A candidate that ends is finished only if it is among the best beam_size; the best beam_size that do not
// end continue. The best beam_size finished ones are kept, by score = (sum of log-probabilities) /
// n^length_penalty. Twice beam_size candidates suffice, since at most beam_size of them can end.
//
// Ties are broken by lower token id, then by the rank of the hypothesis. With beam size 1 the search is
// greedy: it ends as soon as the end token is the most probable one.
#pragma once

#include "decode/sentence_search.h"

namespace heed::decode {

class BeamSearch : public SentenceSearch {
 public:
  explicit BeamSearch(SearchSettings settings);

  const std::vector<Row>& rows() const override { return rows_; }
  void advance(std::span<float> logits) override;
  bool done() const override { return done_; }
  std::vector<int32_t> ids_so_far() const override;
  std::vector<Hypothesis> take() override;

 private:
  /// A running hypothesis and its possible next token.
  struct Candidate {
    double sum;
    int32_t id;
    int32_t row;
    float log_probability;
  };

  std::vector<Candidate> best_candidates(std::span<float> logits);
  std::vector<Candidate> forced_candidates(int32_t id) const;
  void follow(const std::vector<Candidate>& candidates);
  void finish(int32_t node, double sum);
  bool nothing_better_to_come() const;

  SearchSettings settings_;
  size_t beams_;
  HypothesisTree tree_;
  int64_t length_ = 0;  // length of all running hypotheses

  // The running hypotheses, best first: their requests, tree nodes and sums.
  std::vector<Row> rows_;
  std::vector<int32_t> nodes_;
  std::vector<double> sums_;
  FinishedHypotheses finished_;
  bool done_ = false;
  NextTokens next_tokens_;
};

}  // namespace heed::decode
