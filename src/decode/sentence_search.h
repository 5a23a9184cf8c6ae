// The search for the translations of one sentence, whatever model it is and whoever else is in the batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/hypothesis.h"
#include "decode/logit_rules.h"

namespace heed::decode {

/// Asks for logits, row by row, and is given them. The order of calls: rows(), advance(), rows(), ..., until
/// done().
class SentenceSearch {
 public:
  /// A hypothesis that wants its next word: `parent` is the row that it continues, of those of the step
  /// before; -1 in the first step.
  struct Row {
    int32_t parent = -1;
    int32_t token = 0;  ///< its last word
  };

  virtual ~SentenceSearch() = default;
  /// At most as many as the search is wide, and never none while it is not done.
  virtual const std::vector<Row>& rows() const = 0;
  /// Takes a step. `logits` is (rows, V), V the words that may come, and may be overwritten.
  virtual void advance(std::span<float> logits) = 0;
  virtual bool done() const = 0;
  /// The words that are certain by now, in order, where there is only one hypothesis; none where several
  /// compete.
  virtual std::vector<int32_t> certain_words() const = 0;
  /// The translations, best first; once, when done.
  virtual std::vector<Hypothesis> take() = 0;
};

/// Beam search, greedy search, or sampling. Throws kUsage for a prefix that does not fit.
std::unique_ptr<SentenceSearch> make_sentence_search(const SearchOptions& options,
                                                     const models::Generator& model,
                                                     const SearchSentence& sentence);

/// How many rows such a search has at most.
int search_width(const SearchOptions& options);

/// What both kinds of search know of a sentence.
struct SearchSettings {
  SearchSettings(const SearchOptions& search_options, const models::Generator& model,
                 const SearchSentence& sentence);

  SearchOptions options;
  uint64_t number;                 ///< of the sentence
  std::vector<int32_t> beginning;  ///< what the first word stands behind
  std::vector<int32_t> end_ids;    ///< each of which ends a translation
  std::vector<int32_t> words;      ///< that may come, rising; none: all
  int64_t vocabulary;              ///< how many they are
  int64_t max_length;              ///< ids of a translation at most
  int64_t free;                    ///< ids of the prefix
  LogitRules rules;
  SearchObserver* observer;  ///< null: none

  /// Whether a hypothesis is finished that goes on from `parent` with the word `id`, `length` words in all.
  bool ends(const HypothesisTree& tree, int32_t parent, int32_t id, int64_t length) const;
};

/// The finished hypotheses of a beam search: the best so many, best first, the earlier first of equal ones.
class FinishedHypotheses {
 public:
  struct Entry {
    double score, sum;  ///< of log-probabilities; the score is normalized by length
    int32_t node;
  };
  void add(const Entry& entry, size_t most);
  void clear() { entries_.clear(); }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  const Entry& best() const { return entries_.front(); }
  const Entry& worst() const { return entries_.back(); }
  /// The first settings.options.nbest of them.
  std::vector<Hypothesis> results(const HypothesisTree& tree, const SearchSettings& settings) const;

 private:
  std::vector<Entry> entries_;
};

/// The words that may come next, for each row: applies the rules to the logits and finds what is left.
class NextWords {
 public:
  /// Applies the rules to each row of `logits` (rows, V): the hypotheses that end in `nodes`, all of `length`
  /// words. Throws kNumeric where the logits are no numbers.
  void read(const SearchSettings& settings, const HypothesisTree& tree, std::span<const int32_t> nodes,
            int64_t length, std::span<float> logits, int64_t most);

  /// The n-th likeliest word of a row, n below `most`; -1 where so many are not allowed.
  int32_t id(size_t row, int64_t n) const { return ids_[static_cast<int64_t>(row) * most_ + n]; }
  /// Its log-probability.
  float log_probability(size_t row, int64_t n) const {
    return values_[static_cast<int64_t>(row) * most_ + n] - log_sums_[row];
  }
  /// log(sum of exponentials) of the logits of a row: what turns them into log-probabilities.
  float log_sum(size_t row) const { return log_sums_[row]; }

 private:
  void apply_rules(const SearchSettings& settings, const HypothesisTree& tree, std::span<const int32_t> nodes,
                   int64_t length, std::span<float> logits);

  int64_t most_ = 0;
  std::vector<float> values_;    // (rows, most)
  std::vector<int32_t> ids_;     // (rows, most)
  std::vector<float> log_sums_;  // (rows)
};

}  // namespace heed::decode
