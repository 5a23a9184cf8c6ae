// Rules on the next word: what must come, what must not, and what shall be less likely.
//
// They change a row of logits before a search reads it. Their order, and what each does, is that of Hugging
// Face's logits processors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decode/search_options.h"

namespace heed::decode {

/// The logits of the words that may come next, those of all words or of a list.
struct WordLogits {
  std::span<float> values;
  std::span<const int32_t> words = {};  ///< their ids, rising; none: 0, 1, 2, ...

  /// The logit of a word; null where it is not among them.
  float* find(int32_t id) const;
  void forbid(int32_t id) const;
};

/// The rules for one sentence.
class LogitRules {
 public:
  struct Sentence {
    std::vector<int32_t> prefix;  ///< words that must come first
    int64_t max_length = 1;       ///< ids of a translation at most
    int64_t beginning = 1;        ///< ids before it: the start token, or a prompt
  };
  /// Throws kUsage for a prefix that has no room, or that holds the end token or an id that is no word.
  LogitRules(const SearchOptions& options, const models::Generator& model, Sentence sentence);

  /// The only word that may come behind `length` others, if there is one: of the prefix, or the end at the
  /// limit.
  std::optional<int32_t> forced(int64_t length) const;

  /// Whether apply() reads the words of the hypothesis, which take time to collect.
  bool reads_history() const { return ngram_ > 0 || repetition_penalty_ != 1; }
  /// Whether apply() needs the log of the sum of exponentials of the logits.
  bool reads_log_sum() const { return repetition_penalty_ != 1 && penalty_on_log_probabilities_; }

  /// Sets what is forbidden behind `length` words to -infinity. `history` is the start token and those words,
  /// where reads_history(); `log_sum` is that of the logits, where reads_log_sum().
  void apply(int64_t length, std::span<const int32_t> history, float log_sum, const WordLogits& logits) const;

 private:
  void penalize_repetition(std::span<const int32_t> history, float log_sum, const WordLogits& logits) const;
  void forbid_repeated_ngrams(std::span<const int32_t> history, const WordLogits& logits) const;

  Sentence sentence_;  // its prefix behind what the options force
  std::vector<int32_t> forbidden_, begin_forbidden_;
  std::vector<int32_t> end_ids_;
  int32_t forced_end_;  // -1: none
  int64_t min_length_;  // of a translation, without what stands before it
  size_t ngram_;
  float repetition_penalty_;
  bool penalty_on_log_probabilities_;
};

}  // namespace heed::decode
