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

/// A sentence to be translated.
struct SearchSentence {
  uint64_t number = 0;  ///< its place among all: names the result, and the random numbers it is sampled by
  std::vector<int32_t> source;       ///< ids, end token included
  std::vector<int32_t> prefix = {};  ///< ids that every translation of it begins with; they cost nothing
  std::vector<int32_t> words = {};   ///< ids that it may hold otherwise, rising; none: all
  std::vector<RequiredPhrase> required = {};
  std::vector<int32_t> forbidden = {};  ///< ids that its translation must not hold
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
