// Constrained beam search for translations that contain required phrases: grid beam search (Hokamp and Liu,
// "Lexically constrained decoding for sequence generation using grid beam search", 2017) with a bank of
// hypotheses for each set of phrases begun or, with many phrases, for each number of them, as in dynamic beam
// allocation (Post and Vilar, 2018).
//
// A hypothesis that has begun a phrase must complete it. Within a bank, hypotheses are ranked without the
// log-probabilities of tokens inside phrases, which every translation has to include. A phrase must not be
// followed by a token that extends its last word.
//
// If all phrases are numbers, addresses or placeholders, finished hypotheses are ranked by their score, as in
// beam search. With words, the log-probability of the phrases in the hypothesis where they are most probable
// is excluded from length normalization: an unlikely word has a low log-probability at any position, and
// dividing it by the length would favour longer translations, such as a complete translation followed by the
// word. A hypothesis that continues where the model predicted the end has a penalty.
#pragma once

#include <algorithm>
#include <optional>

#include "decode/sentence_search.h"

namespace heed::decode {

class ConstrainedSearch : public SentenceSearch {
 public:
  /// The sentence requires at least one phrase.
  ConstrainedSearch(SearchSettings settings, std::vector<RequiredPhrase> phrases);

  const std::vector<Row>& rows() const override { return rows_; }
  void advance(std::span<float> logits) override;
  bool done() const override { return done_; }
  std::vector<int32_t> ids_so_far() const override { return {}; }
  std::vector<Hypothesis> take() override;

 private:
  /// Up to this many phrases there is a bank for each set of phrases, beyond only for each number of
  /// phrases.
  static constexpr size_t kMaxInSets = 3;

  /// What was just completed, and which extensions of it are forbidden.
  enum class Ending {
    kNone,
    kWord,
    kNumber,           ///< neither by a digit nor by a separator and a digit: not "1.500" to "1.500,00"
    kNumberSeparator,  ///< a number and ".", "," or ":"
  };
  /// A hypothesis: its tree node and the state of its phrases.
  struct State {
    int32_t node = HypothesisTree::kRoot;
    double sum = 0;           ///< of log-probabilities
    double compared = 0;      ///< the sum without tokens inside phrases
    double phrases = 0;       ///< the sum of tokens of phrases
    std::vector<bool> begun;  ///< for each phrase
    int32_t phrase = -1;      ///< the phrase in progress; -1: none
    size_t written = 0;       ///< its completed tokens
    Ending ending = Ending::kNone;
    bool passed_end = false;  ///< whether the model predicted the end before all phrases were complete
    size_t count() const { return static_cast<size_t>(std::count(begun.begin(), begun.end(), true)); }
  };
  struct Candidate {
    State state;
    int32_t row = 0, id = 0;
    float log_probability = 0;
    bool ends = false;
    bool kept = false;
  };

  struct Finished {
    double sum = 0, phrases = 0;  ///< of log-probabilities, of all tokens and of those of phrases
    int32_t node = HypothesisTree::kRoot;
    int64_t length = 0;
    bool whole = false;  ///< whether it contains all phrases
    bool passed_end = false;
  };

  std::vector<Candidate> candidates(std::span<float> logits);
  void add_free(size_t row, int32_t id, float log_probability, std::vector<Candidate>& found) const;
  void add_phrase(size_t row, size_t phrase, float log_probability, std::vector<Candidate>& found) const;
  /// The ending after `id`; empty if `id` would extend what must end.
  std::optional<Ending> next_ending(Ending ending, int32_t id) const;
  void follow(std::vector<Candidate> found);
  void observe(const std::vector<Candidate>& found, const std::vector<int32_t>& parents) const;
  void finish(const State& state);
  bool nothing_better_to_come() const;
  /// `unavoidable`: the log-probability of phrases that every translation has to pay.
  double rank(const Finished& finished, double unavoidable) const;
  double unavoidable() const;
  /// The best `most` finished hypotheses, of those with all phrases if there are any, best first.
  std::vector<Finished> best_finished(size_t most) const;
  size_t banks() const {
    return phrases_.size() <= kMaxInSets ? size_t{1} << phrases_.size() : phrases_.size() + 1;
  }
  size_t bank_of(const State& state) const;
  bool complete(const State& state) const { return state.phrase < 0 && state.count() == phrases_.size(); }

  SearchSettings settings_;
  std::vector<RequiredPhrase> phrases_;
  size_t beams_, width_;
  HypothesisTree tree_;
  int64_t length_ = 0;  // length of all running hypotheses
  std::vector<Row> rows_;
  std::vector<State> states_;  // for each row
  std::vector<Finished> finished_;
  bool ranked_by_score_;
  bool done_ = false;
  NextTokens next_tokens_;
};

}  // namespace heed::decode
