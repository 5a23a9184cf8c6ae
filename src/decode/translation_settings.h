// What a caller may change in a model's own settings for translation: the options of `heed translate` and of
// the server's requests, so that both mean the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "decode/translator.h"

namespace heed::decode {

/// What is not set, the model directory decides.
struct SearchChoices {
  std::optional<int> beam = {}, no_repeat_ngram = {};
  std::optional<double> length_penalty = {};
  std::optional<int64_t> max_length = {};
  std::optional<uint64_t> batch_tokens = {};  ///< source tokens of a batch; changes no result
};

struct TranslationChoices {
  SearchChoices search = {};
  int nbest = 1;        ///< translations of each line
  bool sample = false;  ///< draw translations instead of searching
  std::optional<double> temperature = {}, top_p = {};
  std::optional<int> top_k = {};
  uint64_t seed = 1;             ///< of what is drawn
  bool whole_lines = false;      ///< do not split lines into sentences
  bool no_placeholders = false;  ///< translate URLs, numbers and the like as other text
  std::string prefix = {};       ///< that every translation begins with
  bool align = false;            ///< find word alignments
  std::shared_ptr<const Glossary> glossary = {};
};

/// The settings of the model directory, with lines split into sentences and URLs and the like protected.
/// Throws what reading generation_config.json throws.
TranslatorOptions default_translator_options(const models::LoadedModel& model);

void apply(const SearchChoices& choices, TranslatorOptions& options);
/// Throws kUsage if a beam is given and `sample` is set.
void apply(const TranslationChoices& choices, TranslatorOptions& options);

}  // namespace heed::decode
