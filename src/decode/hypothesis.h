// Translations under way and done.
#pragma once

#include <cstdint>
#include <vector>

namespace heed::decode {

/// Tokens that a translation must hold, one after the other.
struct RequiredPhrase {
  std::vector<int32_t> ids;  ///< at least one
  bool whole_word = true;    ///< what follows must not make its last word longer
  bool only_once = false;    ///< its first token comes nowhere else
};

/// What a beam search considered in a step: a running hypothesis and one more token.
struct SearchCandidate {
  int32_t parent = -1;        ///< the node of that hypothesis; -1: the start
  int32_t id = 0;             ///< the token
  float log_probability = 0;  ///< of the token
  double sum = 0;             ///< of the longer hypothesis
  int32_t node = -1;          ///< that of the longer hypothesis; -1: it was dropped
  bool finished = false;      ///< it ended
  double score = 0;           ///< of a finished one: the sum, normalized by length
};

/// Told of a beam search, step by step, without changing it.
class SearchObserver {
 public:
  virtual ~SearchObserver() = default;
  /// The best 2 * beam_size candidates of a step, the best first. Nodes count from 0 in the order of
  /// `node`.
  virtual void on_step(const std::vector<SearchCandidate>& candidates) = 0;
};

/// A sentence to be translated.
struct SearchSentence {
  uint64_t number = 0;  ///< its place among all: names the result, and the random numbers it is sampled by
  std::vector<int32_t> source;       ///< ids, end token included
  std::vector<int32_t> prefix = {};  ///< ids that every translation of it begins with; they cost nothing
  std::vector<int32_t> words = {};   ///< ids that it may hold otherwise, rising; none: all
  std::vector<RequiredPhrase> required = {};
  std::vector<int32_t> forbidden = {};  ///< ids that its translation must not hold
  SearchObserver* observer = nullptr;   ///< of a beam search, or null
};

/// A translation.
struct Hypothesis {
  std::vector<int32_t>
      ids;  ///< without the start token; the prefix and, where there is one, the end token included
  std::vector<float> log_probabilities;  ///< one for each id; 0 for what was forced
  double log_probability = 0;            ///< their sum
  double score = 0;                      ///< the sum divided by n^length_penalty, n the ids behind the prefix
};

/// The words of all hypotheses of a sentence. Those with a common beginning share it, so that a search that
/// follows some and gives up others copies nothing.
class HypothesisTree {
 public:
  static constexpr int32_t kRoot = -1;

  /// Appends a word to the hypothesis that ends in `parent`, and returns where the longer one ends.
  int32_t extend(int32_t parent, int32_t id, float log_probability) {
    nodes_.push_back({parent, id, log_probability});
    return static_cast<int32_t>(nodes_.size()) - 1;
  }
  int32_t last_id(int32_t node) const { return nodes_[node].id; }

  /// The words up to `node`, behind `first`.
  std::vector<int32_t> ids(int32_t node, std::vector<int32_t> first = {}) const;
  /// The hypothesis that ends in `node`. `free` is how many of its ids are a prefix and do not count for the
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

}  // namespace heed::decode
