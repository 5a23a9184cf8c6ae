#include "text/tokenizer_config.h"

#include <nlohmann/json.hpp>

#include "base/check.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

Json special_token(const std::string& text) {
  return {{"content", text}, {"lstrip", false},      {"normalized", false},
          {"rstrip", false}, {"single_word", false}, {"special", true}};
}

}  // namespace

std::string read_token(const Json& config, const std::string& key, const std::string& fallback,
                       const std::string& name) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return fallback;
  const Json& value = found->is_object() && found->contains("content") ? found->at("content") : *found;
  if (!value.is_string()) fail(ErrorKind::kFormat, "in {}, \"{}\" is not a text", name, key);
  return value.get<std::string>();
}

TokenizerConfig read_tokenizer_config(std::string_view json, const std::string& name) {
  const Json config = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) fail(ErrorKind::kFormat, "{} is not a JSON object", name);
  if (const auto found = config.find("separate_vocabs"); found != config.end() && *found != false) {
    fail(ErrorKind::kFormat,
         "{} asks for \"separate_vocabs\", a vocabulary for each language, which Heed does not have; one "
         "vocabulary "
         "must hold the pieces of both",
         name);
  }
  const SpecialPieces usual;
  TokenizerConfig result;
  result.special.end = read_token(config, "eos_token", usual.end, name);
  result.special.unknown = read_token(config, "unk_token", usual.unknown, name);
  result.special.pad = read_token(config, "pad_token", usual.pad, name);
  result.source_language = read_token(config, "source_lang", "", name);
  result.target_language = read_token(config, "target_lang", "", name);
  return result;
}

std::string write_tokenizer_config(const TokenizerConfig& config, const Vocabulary& vocabulary,
                                   int max_length) {
  Json tokens;
  for (const int32_t id : {vocabulary.end_id(), vocabulary.unknown_id(), vocabulary.pad_id()}) {
    tokens[std::to_string(id)] = special_token(vocabulary.piece(id));
  }
  Json result{{"added_tokens_decoder", tokens},     {"clean_up_tokenization_spaces", false},
              {"eos_token", config.special.end},    {"model_max_length", max_length},
              {"pad_token", config.special.pad},    {"separate_vocabs", false},
              {"sp_model_kwargs", Json::object()},  {"tokenizer_class", "MarianTokenizer"},
              {"unk_token", config.special.unknown}};
  if (!config.source_language.empty()) result["source_lang"] = config.source_language;
  if (!config.target_language.empty()) result["target_lang"] = config.target_language;
  return result.dump(2) + "\n";
}

}  // namespace heed
