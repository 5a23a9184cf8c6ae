// The settings of text generation that users can override: the options of `heed generate` and the fields of
// server requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decode/text_generator.h"

namespace heed::decode {

/// Unset values come from the model directory.
struct GenerationChoices {
  int samples = 1;      ///< samples per prompt
  bool greedy = false;  ///< greedy decoding
  std::optional<int> beam = {}, top_k = {};
  std::optional<int64_t> max_tokens = {};
  std::optional<double> temperature = {}, top_p = {}, min_p = {}, repetition_penalty = {};
  std::optional<uint64_t> seed = {};
  std::vector<std::string> stops = {};
  bool ignore_end = false;      ///< suppress the end token
  bool special_tokens = false;  ///< parse special tokens in prompts
};

TextGeneratorOptions generator_options(const GenerationChoices& choices, const models::LoadedModel& model);

}  // namespace heed::decode
