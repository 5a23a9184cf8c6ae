// The settings of translation that users can override: the options of `heed translate` and the fields of
// server requests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "decode/constraints.h"
#include "decode/translator.h"

namespace heed::decode {

/// Unset values come from the model directory.
struct SearchChoices {
  std::optional<int> beam = {}, no_repeat_ngram = {};
  std::optional<double> length_penalty = {};
  std::optional<int64_t> max_length = {};
  std::optional<uint64_t> batch_tokens = {};  ///< source tokens per batch; does not change results
};

struct TranslationChoices {
  SearchChoices search = {};
  int nbest = 1;        ///< translations per line
  bool sample = false;  ///< sample instead of beam search
  std::optional<double> temperature = {}, top_p = {};
  std::optional<int> top_k = {};
  uint64_t seed = 1;             ///< of sampling
  bool whole_lines = false;      ///< do not split lines into sentences
  bool no_placeholders = false;  ///< do not protect URLs, numbers etc.
  Constraints constraints = {};  ///< what every translation begins with, contains and avoids
  bool align = false;            ///< compute word alignments
  std::shared_ptr<const Glossary> glossary = {};
};

/// The settings of the model directory, with lines split into sentences and spans such as URLs protected.
/// Throws the errors of reading generation_config.json.
TranslatorOptions default_translator_options(const models::LoadedModel& model);

void apply(const SearchChoices& choices, TranslatorOptions& options);
/// Throws kUsage for a beam size together with `sample`.
void apply(const TranslationChoices& choices, TranslatorOptions& options);

}  // namespace heed::decode
