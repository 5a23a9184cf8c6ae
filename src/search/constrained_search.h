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
#include <vector>

#include "search/beam_steps.h"

namespace heed::search {

/// What a hypothesis just completed, and which extensions of it are forbidden.
enum class PhraseEnding {
  kNone,
  kWord,
  kNumber,           ///< neither by a digit nor by a separator and a digit: not "1.500" to "1.500,00"
  kNumberSeparator,  ///< a number and ".", "," or ":"
};

/// A running hypothesis of a constrained search, with the state of its phrases.
struct ConstrainedBeam {
  int32_t node = HypothesisTree::kRoot;
  double sum = 0;           ///< of log-probabilities
  double compared = 0;      ///< the sum without tokens inside phrases
  double phrases = 0;       ///< the sum of tokens of phrases
  std::vector<bool> begun;  ///< for each phrase
  int32_t phrase = -1;      ///< the phrase in progress; -1: none
  size_t written = 0;       ///< its completed tokens
  PhraseEnding ending = PhraseEnding::kNone;
  bool passed_end = false;  ///< whether the model predicted the end before all phrases were complete
  size_t count() const { return static_cast<size_t>(std::count(begun.begin(), begun.end(), true)); }
};

/// The hypothesis after a possible next token; its node is still that of the parent.
struct ConstrainedCandidate {
  ConstrainedBeam state;
  int32_t row = 0, id = 0;
  float log_probability = 0;
  bool ends = false;
  bool kept = false;
};

class ConstrainedSearch : public BeamSteps<ConstrainedBeam, ConstrainedCandidate> {
 public:
  /// The sentence requires at least one phrase.
  ConstrainedSearch(SearchSettings settings, std::vector<RequiredPhrase> phrases);

  size_t width() const override { return width_; }
  std::vector<int32_t> ids_so_far() const override { return {}; }
  std::vector<Hypothesis> take() override;

 private:
  /// Up to this many phrases there is a bank for each set of phrases, beyond only for each number of
  /// phrases.
  static constexpr size_t kMaxInSets = 3;

  using State = ConstrainedBeam;
  using Candidate = ConstrainedCandidate;
  using Ending = PhraseEnding;
  struct Finished {
    double sum = 0, phrases = 0;  ///< of log-probabilities, of all tokens and of those of phrases
    int32_t node = HypothesisTree::kRoot;
    int64_t length = 0;
    bool whole = false;  ///< whether it contains all phrases
    bool passed_end = false;
  };

  std::vector<Candidate> forced_candidates(int32_t id) const override;
  std::vector<Candidate> best_candidates(std::span<float> logits) override;
  void follow(std::vector<Candidate> found, const std::vector<State>& parents) override;
  void finish(const State& state) override;
  bool nothing_better_to_come() const override;

  void add_free(size_t row, int32_t id, float log_probability, std::vector<Candidate>& found) const;
  bool may_begin(const State& state, size_t phrase) const;
  void add_phrase(size_t row, size_t phrase, float log_probability, std::vector<Candidate>& found) const;
  /// The ending after `id`; empty if `id` would extend what must end.
  std::optional<Ending> next_ending(Ending ending, int32_t id) const;
  std::vector<size_t> bank_sizes(const std::vector<std::vector<Candidate*>>& by_bank) const;
  std::vector<SearchCandidate> observed(const std::vector<Candidate>& found,
                                        const std::vector<State>& parents) const;
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

  std::vector<RequiredPhrase> phrases_;
  size_t width_;
  std::vector<Finished> finished_;
  bool ranked_by_score_;
};

}  // namespace heed::search
