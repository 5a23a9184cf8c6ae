// Logits processors: forced, suppressed and penalized tokens.
//
// They modify a row of logits before the search reads it, in the order and with the semantics of Hugging
// Face's logits processors.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "search/rules/search_options.h"

namespace heed::search {

/// The logit of a token that must not be generated.
constexpr float kForbidden = -std::numeric_limits<float>::infinity();

/// The logits of the next token, for the whole vocabulary or a shortlist.
struct TokenLogits {
  std::span<float> values;
  std::span<const int32_t> shortlist = {};  ///< the sorted shortlist; empty: 0, 1, 2, ...

  /// The logit of a token; null if it is not in the shortlist.
  float* find(int32_t id) const;
  void forbid(int32_t id) const;
};

/// The rules for one sentence.
class LogitRules {
 public:
  struct Sentence {
    std::vector<int32_t> prefix;  ///< forced first tokens
    int64_t max_length = 1;       ///< maximum number of ids of a translation
    int64_t prompt_length = 1;    ///< number of ids of the start token or the prompt
  };
  /// Throws kUsage for a prefix that is too long or contains the end token or an invalid id.
  LogitRules(const SearchOptions& options, const models::AutoregressiveModel& model, Sentence sentence);

  /// The forced token after `length` others, if any: from the prefix, or the end token at the maximum length.
  std::optional<int32_t> forced(int64_t length) const;

  /// Whether apply() needs the tokens of the hypothesis, which are costly to collect.
  bool reads_history() const { return ngram_ > 0 || repetition_penalty_ != 1 || forbidden_words_ != nullptr; }
  /// Whether apply() needs the log-sum-exp of the logits.
  bool reads_log_sum() const { return repetition_penalty_ != 1 && penalty_on_log_probabilities_; }
  /// Whether apply() changes logits of tokens that it does not forbid, where the search ranks nothing by
  /// log-probabilities.
  bool changes_logits() const { return repetition_penalty_ != 1 && !penalty_on_log_probabilities_; }

  /// Applies the rules after `length` tokens: sets forbidden tokens to -infinity. `history` is the start
  /// token and these tokens, if reads_history(); `log_sum` the log-sum-exp of the logits, if reads_log_sum().
  void apply(int64_t length, std::span<const int32_t> history, float log_sum,
             const TokenLogits& logits) const;

 private:
  void penalize_repetition(std::span<const int32_t> history, float log_sum, const TokenLogits& logits) const;
  void forbid_repeated_ngrams(std::span<const int32_t> history, const TokenLogits& logits) const;

  Sentence sentence_;  // with forced tokens prepended to the prefix
  std::vector<int32_t> forbidden_, begin_forbidden_, second_forbidden_;
  std::shared_ptr<const ForbiddenWords> forbidden_words_;
  std::vector<int32_t> end_ids_;
  int32_t forced_end_;  // -1: none
  int64_t min_length_;  // without the preceding ids
  size_t ngram_;
  float repetition_penalty_;
  bool penalty_on_log_probabilities_;
};

}  // namespace heed::search
