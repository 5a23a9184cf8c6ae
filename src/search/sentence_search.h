// The search for translations of one sentence, independent of the model and the batch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "search/hypothesis.h"
#include "search/rules/logit_rules.h"

namespace heed::search {

/// Requests logits for its rows and receives them. Order of calls: rows(), advance(), rows(), ..., until
/// done().
class SentenceSearch {
 public:
  /// A hypothesis to extend: `parent` is the row of the previous step that it continues; -1 in the first
  /// step.
  struct Row {
    int32_t parent = -1;
    int32_t token = 0;  ///< its last token
  };

  virtual ~SentenceSearch() = default;
  /// The maximum number of rows.
  virtual size_t width() const = 0;
  /// At most width() rows; at least one until done().
  virtual const std::vector<Row>& rows() const = 0;
  /// One step. `logits` is (rows, V), V the shortlist or the vocabulary; it may be overwritten.
  virtual void advance(std::span<float> logits) = 0;
  virtual bool done() const = 0;
  /// With a single hypothesis, its tokens so far; otherwise empty.
  virtual std::vector<int32_t> ids_so_far() const = 0;
  /// The translations, best first; call once, when done.
  virtual std::vector<Hypothesis> take() = 0;
};

/// Creates beam search, greedy search, constrained search or sampling. Throws kUsage for a prefix that is too
/// long.
std::unique_ptr<SentenceSearch> make_sentence_search(const SearchOptions& options,
                                                     const models::AutoregressiveModel& model,
                                                     const SearchSentence& sentence);

/// The maximum number of rows of such a search without required phrases, which may need more.
int search_width(const SearchOptions& options);

/// Options that also forbid what a sentence forbids.
SearchOptions with_forbidden(SearchOptions options, const SearchSentence& sentence);

/// Settings of the search for one sentence, common to all kinds of search.
struct SearchSettings {
  SearchSettings(const SearchOptions& search_options, const models::AutoregressiveModel& model,
                 const SearchSentence& sentence);

  SearchOptions options;
  uint64_t random_stream;          ///< selects the random numbers of samples
  std::vector<int32_t> prompt;     ///< start token or prompt
  std::vector<int32_t> end_ids;    ///< end token ids
  std::vector<int32_t> shortlist;  ///< sorted shortlist; empty: all
  int64_t vocabulary;              ///< size of shortlist or vocabulary
  int64_t max_length;              ///< maximum number of ids of a translation
  int64_t free;                    ///< number of prefix ids
  LogitRules rules;
  SearchObserver* observer;  ///< null: none

  /// Whether the hypothesis that extends `parent` with token `id` to `length` tokens is finished.
  bool ends(const HypothesisTree& tree, int32_t parent, int32_t id, int64_t length) const;
};

/// The best finished hypotheses of a beam search, best first, earlier ones first in ties.
class FinishedHypotheses {
 public:
  struct Entry {
    double score, sum;  ///< of log-probabilities; the score is normalized by length
    int32_t node;
  };
  void add(const Entry& entry, size_t most);
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  const Entry& best() const { return entries_.front(); }
  const Entry& worst() const { return entries_.back(); }
  /// The first settings.options.nbest hypotheses.
  std::vector<Hypothesis> results(const HypothesisTree& tree, const SearchSettings& settings) const;

 private:
  std::vector<Entry> entries_;
};

/// The running hypotheses of a search, all of the same length.
struct RunningHypotheses {
  const SearchSettings& settings;
  const HypothesisTree& tree;
  std::span<const int32_t> nodes;  ///< where each ends in the tree
  int64_t length = 0;
};

/// The candidate next tokens of each row: applies the rules to the logits and finds the most probable tokens.
class NextTokens {
 public:
  /// Processes the `logits` (rows, V) of hypotheses. Throws kNumeric for NaN.
  void read(const RunningHypotheses& running, std::span<float> logits, int64_t most);

  /// The n-th most probable token of a row, n below `most`; -1 if fewer are allowed.
  int32_t id(size_t row, int64_t n) const { return ids_[static_cast<int64_t>(row) * most_ + n]; }
  /// Its log-probability.
  float log_probability(size_t row, int64_t n) const {
    return log_probability_of(row, id(row, n), values_[static_cast<int64_t>(row) * most_ + n]);
  }
  /// That of a token with this logit: without renormalization, that of the model, before the repetition
  /// penalty of greedy search and sampling. Beam search ranks by the penalized one, as transformers does.
  float log_probability_of(size_t row, int32_t id, float logit) const;

 private:
  void apply_rules(const RunningHypotheses& running, std::span<float> logits);

  int64_t most_ = 0;
  std::vector<float> values_;                        // (rows, most)
  std::vector<int32_t> ids_;                         // (rows, most)
  std::vector<float> log_sums_;                      // (rows)
  std::vector<std::map<int32_t, float>> penalized_;  // (rows), or empty: ids, and their logits before
};

}  // namespace heed::search
