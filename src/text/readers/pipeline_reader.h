// Reads the components of tokenizer.json.
#pragma once

#include <string>
#include <vector>

#include "text/pipeline/text_pipeline.h"
#include "text/readers/tokenizer_json.h"

namespace heed {

/// Throws kFormat, with file and step, for a component or an option that is not known.
TextPipeline read_text_pipeline(const TokenizerJson& json);

// Each throws kFormat, with file and step, for a type or a setting that is not known.
std::unique_ptr<const Normalizer> read_normalizer(const TokenizerJson& json, const TokenizerStep& step);
std::unique_ptr<const PreTokenizer> read_pre_tokenizer(const TokenizerJson& json, const TokenizerStep& step);
std::unique_ptr<const DecoderStep> read_decoder(const TokenizerJson& json, const TokenizerStep& step);
PostProcessorStep read_post_processor(const TokenizerJson& json, const TokenizerStep& step);
std::unique_ptr<const TokenModel> read_model(const TokenizerJson& json,
                                             const std::vector<std::string>& pieces);

/// {"String": "x"} or {"Regex": "x"} as the setting "pattern".
Pattern read_pattern(const TokenizerJson& json, const TokenizerStep& step);
/// A setting that is a single character.
char32_t read_character(const TokenizerJson& json, const TokenizerStep& step, const std::string& key);

}  // namespace heed
