// Beam search for translations that hold given phrases: grid beam search (Hokamp and Liu, "Lexically
// constrained decoding for sequence generation using grid beam search", 2017) with a bank of hypotheses for
// each set of phrases begun, or, of many phrases, for each number of them, as in dynamic beam allocation
// (Post and Vilar, 2018).
//
// A hypothesis that has begun a phrase goes on with it to its end. Hypotheses of a bank are compared without
// the log-probabilities of the tokens within phrases, which every translation has to pay at some position;
// finished ones by their whole score. Behind a phrase no token comes that would make its last word longer.
#pragma once

#include <algorithm>

#include "decode/sentence_search.h"

namespace heed::decode {

class ConstrainedSearch : public SentenceSearch {
 public:
  /// The sentence requires at least one phrase.
  ConstrainedSearch(SearchSettings settings, std::vector<RequiredPhrase> phrases);

  const std::vector<Row>& rows() const override { return rows_; }
  void advance(std::span<float> logits) override;
  bool done() const override { return done_; }
  std::vector<int32_t> certain_words() const override { return {}; }
  std::vector<Hypothesis> take() override;

 private:
  /// So many phrases have a bank for each set of them, more only for each number.
  static constexpr size_t kMostInSets = 3;

  /// A hypothesis: where it ends and which phrases it holds.
  struct State {
    int32_t node = HypothesisTree::kRoot;
    double sum = 0;           ///< of log-probabilities
    double compared = 0;      ///< without those of tokens within phrases
    std::vector<bool> begun;  ///< of each phrase
    int32_t phrase = -1;      ///< the one that is under way
    size_t written = 0;       ///< tokens of it
    bool word_must_end = false;
    size_t count() const { return static_cast<size_t>(std::count(begun.begin(), begun.end(), true)); }
  };
  struct Candidate {
    State state;
    int32_t row = 0, id = 0;
    float log_probability = 0;
    bool ends = false;
  };

  std::vector<Candidate> candidates(std::span<float> logits);
  void add_free(size_t row, int32_t id, float log_probability, std::vector<Candidate>& found) const;
  void add_phrase(size_t row, size_t phrase, float log_probability, std::vector<Candidate>& found) const;
  void follow(std::vector<Candidate> found);
  void finish(const State& state);
  bool nothing_better_to_come() const;
  size_t banks() const {
    return phrases_.size() <= kMostInSets ? size_t{1} << phrases_.size() : phrases_.size() + 1;
  }
  size_t bank_of(const State& state) const;
  bool complete(const State& state) const { return state.phrase < 0 && state.count() == phrases_.size(); }

  SearchSettings settings_;
  std::vector<RequiredPhrase> phrases_;
  size_t beams_, width_;
  HypothesisTree tree_;
  int64_t length_ = 0;  // ids of the running hypotheses, all the same
  std::vector<Row> rows_;
  std::vector<State> states_;  // of each row
  FinishedHypotheses finished_;
  bool any_whole_ = false;  // then all that are finished hold all phrases
  bool done_ = false;
  NextWords words_;
};

}  // namespace heed::decode
