// Beam search for one sentence: the rules of Hugging Face's generate(), step by step.
//
// All running hypotheses times all words are candidates, and the best 2 * beams of them are looked at. One
// that ends is finished only if it is among the best `beams`; the best `beams` that do not end go on. The
// best `beams` finished ones are kept, by  score = (sum of log-probabilities) / n^length_penalty.  Twice as
// many candidates as beams are enough: at most `beams` of them can end.
//
// Of candidates with the same sum, the word with the lower id comes first, then the hypothesis that ranked
// higher. With one beam the search is greedy: it ends as soon as the likeliest word is the end.
#pragma once

#include "decode/sentence_search.h"

namespace heed::decode {

class BeamSearch : public SentenceSearch {
 public:
  explicit BeamSearch(SearchSettings settings);

  const std::vector<Row>& rows() const override { return rows_; }
  void advance(std::span<float> logits) override;
  bool done() const override { return done_; }
  std::vector<int32_t> certain_words() const override;
  std::vector<Hypothesis> take() override;

 private:
  /// A running hypothesis and a word that may follow.
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
  int64_t length_ = 0;  // ids of the running hypotheses, all the same
  // The running hypotheses, best first: what they ask for, where they end, and their sums.
  std::vector<Row> rows_;
  std::vector<int32_t> nodes_;
  std::vector<double> sums_;
  FinishedHypotheses finished_;
  bool done_ = false;
  NextWords words_;
};

}  // namespace heed::decode
