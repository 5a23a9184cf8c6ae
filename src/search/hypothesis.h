// Input sentences, hypotheses, and the tree that stores their tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace heed::search {

/// A token sequence that a translation must contain.
struct RequiredPhrase {
  std::vector<int32_t> ids;  ///< at least one
  bool whole_word = true;    ///< the next tokens must not extend its last word or number
  bool only_once = false;    ///< its first token must not occur elsewhere
  bool ends_in_digit = false;
  bool is_literal = false;  ///< a number, an address or a placeholder, copied from the source
};

/// A candidate of a beam search step: a running hypothesis and one more token.
struct SearchCandidate {
  int32_t parent = -1;        ///< node of the hypothesis; -1: the start
  int32_t id = 0;             ///< the token
  float log_probability = 0;  ///< of the token
  double sum = 0;             ///< sum of log-probabilities including the token
  int32_t node = -1;          ///< node of the extended hypothesis; -1: pruned
  bool finished = false;      ///< whether the extended hypothesis is finished
  double score = 0;           ///< of finished hypotheses: the sum, normalized by length
};

/// Observes the steps of a beam search or constrained search without changing it.
class SearchObserver {
 public:
  virtual ~SearchObserver() = default;
  /// The best candidates of a step, best first: those that a beam search considers (2 * beam_size with one
  /// end token), in a constrained search all that are kept and as many of the others. Nodes are numbered from
  /// 0 in the order of `node`.
  virtual void on_step(const std::vector<SearchCandidate>& candidates) = 0;
};

/// A sentence to search a translation for.
struct SearchSentence {
  uint64_t number = 0;                  ///< index of the sentence: identifies the result
  std::vector<int32_t> source;          ///< ids, including the end token
  std::vector<int32_t> prefix = {};     ///< target prefix; not scored
  std::vector<int32_t> shortlist = {};  ///< vocabulary shortlist, sorted; empty: all
  std::vector<RequiredPhrase> required = {};
  std::vector<int32_t> forbidden = {};         ///< ids that the translation must not contain
  std::vector<int32_t> begin_forbidden = {};   ///< ids that must not follow the prefix
  std::vector<int32_t> second_forbidden = {};  ///< ids that must not be the second token after the prefix
  SearchObserver* observer = nullptr;          ///< not in sampling; null: none
  std::optional<uint64_t> random_stream = {};  ///< selects the random numbers of samples; default: `number`
};

/// A translation.
struct Hypothesis {
  std::vector<int32_t> ids;              ///< without the start token, with prefix and end token (if any)
  std::vector<float> log_probabilities;  ///< one per id; 0 for forced ids
  double log_probability = 0;            ///< their sum
  double score = 0;  ///< the sum divided by n^length_penalty, n the number of ids after the prefix
};

/// The tokens of all hypotheses of a sentence as a tree with shared prefixes, so that search never copies
/// hypotheses.
class HypothesisTree {
 public:
  static constexpr int32_t kRoot = -1;

  /// Appends a token to the hypothesis that ends in node `parent`; returns the new node.
  int32_t extend(int32_t parent, int32_t id, float log_probability) {
    nodes_.push_back({parent, id, log_probability});
    return static_cast<int32_t>(nodes_.size()) - 1;
  }

  /// The tokens up to `node`, after `first`.
  std::vector<int32_t> ids(int32_t node, std::vector<int32_t> first = {}) const;
  /// The hypothesis that ends in `node`. `free`: number of its prefix ids, which do not count for the
  /// length.
  Hypothesis hypothesis(int32_t node, double sum, double length_penalty, int64_t free) const;

 private:
  struct Node {
    int32_t parent, id;
    float log_probability;
  };
  std::vector<Node> nodes_;
};

/// sum / length^length_penalty
double normalized_score(double sum, int64_t length, double length_penalty);

}  // namespace heed::search
