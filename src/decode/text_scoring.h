// How likely a language model finds texts: log-probabilities of every token, and perplexity.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/language_model.h"
#include "text/text_tokenizer.h"

namespace heed::decode {

struct TextScoringOptions {
  /// Texts longer than the model's positions are read through a window that moves on by so many tokens: each
  /// token but the first ones has at least positions - stride tokens before it. A smaller stride gives more
  /// context and takes longer. 0: half of the positions.
  int64_t stride = 0;
};

/// The log-probability of a text's tokens.
struct TextScore {
  std::vector<int32_t> ids;  ///< those that were scored
  std::vector<std::string> pieces;
  std::vector<float> log_probabilities;
  double log_probability = 0;  ///< their sum
  /// Whether the first token of the text is scored. Without a start token nothing stands before it: it is
  /// given.
  bool first_scored = false;
};

/// log p(ids[t] | ids before it), t = 1, 2, ...: of what a window reads. At least two ids.
std::vector<float> score_ids(const models::LanguageModel& model, const nn::Context& context,
                             const std::vector<int32_t>& ids, const TextScoringOptions& options = {});

/// The text stands behind the tokenizer's start token, where every text has one. A text that leaves nothing
/// to score has no ids.
TextScore score_text(const models::LanguageModel& model, const nn::Context& context,
                     const TextTokenizer& tokenizer, const std::string& text,
                     const TextScoringOptions& options = {});

}  // namespace heed::decode
