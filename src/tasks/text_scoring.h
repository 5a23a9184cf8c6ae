// Scores texts with a language model: log-probability of every token, and perplexity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/language_model.h"
#include "text/tokenizers/language_tokenizer.h"

namespace heed::tasks {

struct TextScoringOptions {
  /// Stride of the sliding window for texts longer than the model's maximum length: each token, except the
  /// first ones, has at least max_length - stride tokens of context. Smaller strides give more context and
  /// take longer. 0: half of the maximum length.
  int64_t stride = 0;
};

/// The score of a text.
struct TextScore {
  std::vector<int32_t> ids;  ///< the scored tokens
  std::vector<std::string> pieces;
  std::vector<float> log_probabilities;
  double log_probability = 0;  ///< their sum
  /// Whether the first token of the text is scored, which requires a start token.
  bool first_scored = false;
  size_t bytes = 0;  ///< of the text that the scored tokens stand for
};

/// Throws kUsage, for texts of which no token is scored.
[[noreturn]] void fail_nothing_to_score();

/// log p(ids[t] | previous ids in the window), t = 1, 2, ... Needs at least two ids.
std::vector<float> score_ids(const models::LanguageModel& model, const nn::Context& context,
                             const std::vector<int32_t>& ids, const TextScoringOptions& options = {});

/// Scores a text, after the start token if every text begins with it. The result has no ids if there is
/// nothing to score.
TextScore score_text(const models::LanguageModel& model, const nn::Context& context,
                     const ModelTokenizer& tokenizer, const std::string& text,
                     const TextScoringOptions& options = {});

}  // namespace heed::tasks
