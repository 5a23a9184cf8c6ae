#include "models/generation_defaults.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/check.h"

namespace heed::models {
namespace {

EarlyStopping early_stopping_of(const JsonObject& file) {
  if (!file.has("early_stopping")) return EarlyStopping::kFalse;
  const auto& value = file.json().at("early_stopping");
  if (value.is_boolean()) return value.get<bool>() ? EarlyStopping::kTrue : EarlyStopping::kFalse;
  if (value.is_string() && value.get<std::string>() == "never") return EarlyStopping::kNever;
  file.reject("early_stopping", "true, false or \"never\"");
}

/// bad_words_ids: [[id], ...]. Longer words are for other models than these.
std::vector<int32_t> forbidden_of(const JsonObject& file, int64_t vocabulary) {
  std::vector<int32_t> ids;
  if (!file.has("bad_words_ids")) return ids;
  const auto& words = file.json().at("bad_words_ids");
  const char* needed = "a list of lists of one id each";
  if (!words.is_array()) file.reject("bad_words_ids", needed);
  for (const auto& word : words) {
    if (!word.is_array() || word.size() != 1 || !word[0].is_number_integer())
      file.reject("bad_words_ids", needed);
    const auto id = word[0].get<int64_t>();
    if (id < 0 || id >= vocabulary) file.reject("bad_words_ids", needed);
    ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

void read_from(const JsonObject& file, int64_t vocabulary, GenerationDefaults& defaults) {
  defaults.beams = static_cast<int>(file.integer("num_beams", {1, 4096}, defaults.beams));
  defaults.max_length = file.integer("max_length", {1, 1 << 20}, defaults.max_length);
  defaults.length_penalty = file.number("length_penalty", {-100, 100}, defaults.length_penalty);
  defaults.no_repeat_ngram_size =
      static_cast<int>(file.integer("no_repeat_ngram_size", {0, 1000}, defaults.no_repeat_ngram_size));
  if (file.has("early_stopping")) defaults.early_stopping = early_stopping_of(file);
  if (file.has("forced_eos_token_id")) {
    defaults.forced_end_id = static_cast<int32_t>(file.integer("forced_eos_token_id", {0, vocabulary - 1}));
  }
  if (file.has("bad_words_ids")) defaults.forbidden_ids = forbidden_of(file, vocabulary);
  defaults.renormalize = file.boolean("renormalize_logits", defaults.renormalize);
}

}  // namespace

GenerationDefaults read_generation_defaults(const std::string& directory, const JsonObject& config) {
  const int64_t vocabulary = config.integer("vocab_size", {1, 1 << 26});
  GenerationDefaults defaults;
  read_from(config, vocabulary, defaults);
  const std::string path = directory + "/generation_config.json";
  if (std::filesystem::exists(path)) read_from(JsonObject::read(path), vocabulary, defaults);
  return defaults;
}

void write_generation_defaults(const std::string& directory, const GenerationDefaults& defaults,
                               const SpecialIds& ids) {
  nlohmann::ordered_json json;
  const auto add_id = [&](const char* key, int32_t id) {
    if (id >= 0) json[key] = id;
  };
  for (const int32_t id : defaults.forbidden_ids) json["bad_words_ids"].push_back({id});
  add_id("bos_token_id", ids.begin);
  add_id("decoder_start_token_id", ids.start);
  add_id("eos_token_id", ids.end);
  add_id("forced_eos_token_id", defaults.forced_end_id);
  json["length_penalty"] = defaults.length_penalty;
  json["max_length"] = defaults.max_length;
  json["num_beams"] = defaults.beams;
  add_id("pad_token_id", ids.padding);
  json["renormalize_logits"] = defaults.renormalize;
  write_json(directory + "/generation_config.json", json);
}

}  // namespace heed::models
