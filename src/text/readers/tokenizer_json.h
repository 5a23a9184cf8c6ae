// Parses Hugging Face's tokenizer.json into a list of pipeline steps. text/pipeline/text_pipeline.h
// interprets them.
//
//   text -> normalizer -> pre_tokenizer -> model -> post_processor -> ids -> decoder -> text
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/json_file.h"
#include "text/pipeline/added_vocabulary.h"

namespace heed {

/// One step of the pipeline: {"type": "Digits", "individual_digits": true}.
struct TokenizerStep {
  std::string part;  ///< "normalizer", "pre_tokenizer", "post_processor", "decoder" or "model"
  std::string type;
  JsonObject settings;  ///< including "type"
};

struct TokenizerJson {
  std::string path;  ///< for messages
  /// Empty if null in the file. Nested sequences are flattened.
  std::vector<TokenizerStep> normalizer, pre_tokenizer, post_processor, decoder;
  TokenizerStep model;
  /// By id, including added tokens; and those of the model, where ids of added tokens alone are empty.
  std::vector<std::string> pieces, model_pieces;
  std::vector<double> scores;  ///< of model_pieces, Unigram models only
  std::vector<AddedToken> added;
  std::vector<std::pair<std::string, std::string>> merges;  ///< BPE models only
  bool truncates_left = false;                              ///< "truncation" has the direction "Left"
};

/// Reads a file. Throws kNotFound, kFile, or kFormat with file and position. Ids must be 0 to n - 1, without
/// gaps or duplicates.
TokenizerJson read_tokenizer_json(const std::string& path);

/// An entry of added_tokens, or of added_tokens_decoder in tokenizer_config.json, without its id. Throws
/// kFormat.
AddedToken read_added_token(const JsonObject& object);

/// Throws kFormat: "FILE: the pre_tokenizer {"type":"Digits",...} WHY".
[[noreturn]] void refuse_step(const TokenizerJson& json, const TokenizerStep& step, std::string_view why);

/// Throws kFormat for a setting of the step that is not in `known`.
void allow_settings(const TokenizerJson& json, const TokenizerStep& step,
                    const std::vector<std::string>& known);

}  // namespace heed
