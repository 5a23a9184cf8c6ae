#include "text/tokenizers/config/translation_tokenizer_config.h"

#include <nlohmann/json.hpp>

#include "text/tokenizers/config/added_tokens.h"
#include "text/tokenizers/config/tokenizer_config_keys.h"

namespace heed {
namespace {

using OrderedJson = nlohmann::ordered_json;

}  // namespace

std::string read_token(const JsonObject& config, const std::string& key, const std::string& fallback) {
  if (!config.has(key)) return fallback;
  return config.json().at(key).is_object() ? config.object(key).string("content") : config.string(key);
}

std::optional<bool> read_flag(const JsonObject& config, const std::string& key) {
  return config.has(key) ? std::optional(config.boolean(key)) : std::nullopt;
}

TokenizerConfig read_tokenizer_config(std::string_view json, const std::string& name) {
  const JsonObject config = JsonObject::parse(json, name);
  require_known_keys(config, marian_tokenizer_keys());
  const SpecialPieces usual;
  TokenizerConfig result;
  result.special.end = read_token(config, "eos_token", usual.end);
  result.special.unknown = read_token(config, "unk_token", usual.unknown);
  result.special.pad = read_token(config, "pad_token", usual.pad);
  require_no_other_tokens(config, {result.special.end, result.special.unknown, result.special.pad});
  result.source_language = read_token(config, "source_lang", "");
  result.target_language = read_token(config, "target_lang", "");
  result.separate_vocabularies = read_flag(config, "separate_vocabs").value_or(false);
  result.true_case_capitals = read_flag(config, "true_case_capitals").value_or(true);
  return result;
}

std::string with_separate_vocabularies(std::string_view json, const std::string& name) {
  OrderedJson config = parse_ordered_json(json, name);
  config["separate_vocabs"] = true;
  return config.dump(2) + "\n";
}

std::string write_tokenizer_config(const TokenizerConfig& config, const Vocabulary& vocabulary,
                                   int max_length) {
  OrderedJson tokens = OrderedJson::object();
  for (const int32_t id : {vocabulary.end_id(), vocabulary.unknown_id(), vocabulary.pad_id()}) {
    tokens[std::to_string(id)] = added_token_json({.id = id, .content = vocabulary.piece(id)});
  }
  OrderedJson result{{"added_tokens_decoder", tokens},           {"clean_up_tokenization_spaces", false},
                     {"eos_token", config.special.end},          {"model_max_length", max_length},
                     {"pad_token", config.special.pad},          {"separate_vocabs", false},
                     {"sp_model_kwargs", OrderedJson::object()}, {"tokenizer_class", "MarianTokenizer"},
                     {"unk_token", config.special.unknown}};
  if (!config.source_language.empty()) result["source_lang"] = config.source_language;
  if (!config.target_language.empty()) result["target_lang"] = config.target_language;
  return result.dump(2) + "\n";
}

}  // namespace heed
