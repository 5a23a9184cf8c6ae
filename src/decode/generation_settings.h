// What a caller may change in a language model's own settings: the options of `heed generate` and of the
// server's requests, so that both mean the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decode/text_generator.h"

namespace heed::decode {

/// What is not set, the model directory decides.
struct GenerationChoices {
  int samples = 1;      ///< texts behind each prompt
  bool greedy = false;  ///< always the likeliest token
  std::optional<int> beam = {}, top_k = {};
  std::optional<int64_t> max_tokens = {};
  std::optional<double> temperature = {}, top_p = {}, min_p = {}, repetition_penalty = {};
  std::optional<uint64_t> seed = {};
  std::vector<std::string> stops = {};
  bool ignore_end = false;      ///< write on where the model would end the text
  bool special_tokens = false;  ///< special tokens that a prompt spells out are such tokens
};

TextGeneratorOptions generator_options(const GenerationChoices& choices, const models::LoadedModel& model);

}  // namespace heed::decode
