#include "models/generation_defaults.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/files/file.h"
#include "models/alignment_heads.h"
#include "models/known_keys.h"

namespace heed::models {
namespace {

constexpr int64_t kMostTokens = int64_t{1} << 20;  // also the limit of the command line

EarlyStopping early_stopping_of(const JsonObject& file) {
  const auto& value = file.json().at("early_stopping");
  if (value.is_boolean()) return value.get<bool>() ? EarlyStopping::kTrue : EarlyStopping::kFalse;
  if (value.is_string() && value.get<std::string>() == "never") return EarlyStopping::kNever;
  file.reject("early_stopping", "true, false or \"never\"");
}

/// Empty if there is no end token; files then have null or -1.
std::vector<int32_t> end_ids_of(const JsonObject& file, int64_t vocabulary) {
  std::vector<int32_t> ids;
  for (const int64_t id : file.integers("eos_token_id", {-1, vocabulary - 1}, std::vector<int64_t>{})) {
    if (id >= 0) ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

/// bad_words_ids: [[id], ...]. The end token always remains allowed, as in Hugging Face's library.
std::vector<int32_t> bad_words_of(const JsonObject& file, int64_t vocabulary,
                                  const std::vector<int32_t>& ends) {
  std::vector<int32_t> ids;
  const auto& words = file.json().at("bad_words_ids");
  const char* needed = "a list of lists of one id each";
  if (!words.is_array()) file.reject("bad_words_ids", needed);
  for (const auto& word : words) {
    if (!word.is_array() || word.size() != 1 || !word[0].is_number_integer())
      file.reject("bad_words_ids", needed);
    const auto id = word[0].get<int64_t>();
    if (id < 0 || id >= vocabulary) file.reject("bad_words_ids", needed);
    if (std::ranges::count(ends, id) == 0) ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

/// Reads one file. config.json may contain all keys with the library's default values; `says(key)` is false
/// for those.
class DefaultsReader {
 public:
  DefaultsReader(const JsonObject& file, int64_t vocabulary, Task task, bool is_config)
      : file_(file), vocabulary_(vocabulary), task_(task), is_config_(is_config) {}

  GenerationDefaults read() {
    require_readable();
    GenerationDefaults d;
    if (says("num_beams")) d.beams = static_cast<int>(file_.integer("num_beams", {1, kMaxBeamSize}));
    read_lengths(d);
    d.length_penalty = file_.number("length_penalty", {-100, 100}, 1);
    if (file_.has("early_stopping")) d.early_stopping = early_stopping_of(file_);
    d.no_repeat_ngram_size = static_cast<int>(file_.integer("no_repeat_ngram_size", {0, 1000}, 0));
    d.repetition_penalty = file_.number("repetition_penalty", {1e-3, 1e3}, 1);
    read_ids(d);
    d.renormalize = file_.boolean("renormalize_logits", false);
    alignment_heads_of(file_);  // only checked here; see read_alignment_heads()
    read_sampling(d);
    return d;
  }

 private:
  /// Of config.json, only the generation keys.
  void require_readable() const {
    nlohmann::json own = nlohmann::json::object();
    const KnownKeys& keys = generation_keys();
    for (const auto& [key, value] : file_.json().items()) {
      const bool about_generation =
          std::ranges::count(keys.neutral, key, &NeutralKey::key) > 0 || !is_config_;
      if (about_generation) own[key] = value;
    }
    require_known_keys(JsonObject::parse(own.dump(), file_.origin()), keys);
  }

  bool says(const char* key) const {
    if (!file_.has(key)) return false;
    static const nlohmann::json usual{{"do_sample", false}, {"max_length", 20}, {"num_beams", 1},
                                      {"temperature", 1.0}, {"top_k", 50},      {"top_p", 1.0}};
    return !is_config_ || file_.json().at(key) != usual.at(key);
  }

  std::vector<int32_t> ids(const char* key) const {
    std::vector<int32_t> result;
    for (const int64_t id : file_.integers(key, {0, vocabulary_ - 1}, std::vector<int64_t>{}))
      result.push_back(static_cast<int32_t>(id));
    return result;
  }

  int32_t one_id(const char* key) const {
    return file_.has(key) ? static_cast<int32_t>(file_.integer(key, {0, vocabulary_ - 1})) : -1;
  }

  void read_lengths(GenerationDefaults& d) const {
    if (says("max_length")) d.max_length = file_.integer("max_length", {2, kMostTokens});
    if (file_.has("max_new_tokens")) d.max_new = file_.integer("max_new_tokens", {1, kMostTokens});
    d.min_length = file_.integer("min_length", {0, kMostTokens}, 0);
    d.min_new = file_.integer("min_new_tokens", {0, kMostTokens}, 0);
  }

  void read_ids(GenerationDefaults& d) const {
    d.end_ids = end_ids_of(file_, vocabulary_);
    d.forced_begin_id = one_id("forced_bos_token_id");
    if (d.forced_begin_id >= 0 && task_ != Task::kTranslation) {
      file_.reject("forced_bos_token_id", "null (for language models)");
    }
    d.forced_end_id = one_id("forced_eos_token_id");
    if (is_config_) read_old_bart_ids(d);
    if (file_.has("bad_words_ids")) d.forbidden_ids = bad_words_of(file_, vocabulary_, d.end_ids);
    for (const int32_t id : ids("suppress_tokens")) d.forbidden_ids.push_back(id);
    d.begin_forbidden_ids = ids("begin_suppress_tokens");
  }

  /// The defaults of BART's and mBART's config.json; force_bos_token_to_be_generated is the oldest form.
  void read_old_bart_ids(GenerationDefaults& d) const {
    const std::string type = file_.string("model_type", "");
    if (type != "bart" && type != "mbart") return;
    if (!file_.json().contains("forced_eos_token_id")) {
      d.forced_end_id = d.end_ids.empty() ? 2 : d.end_ids.front();
    }
    if (!file_.has("forced_bos_token_id") && file_.boolean("force_bos_token_to_be_generated", false)) {
      d.forced_begin_id = static_cast<int32_t>(file_.integer("bos_token_id", {0, vocabulary_ - 1}, 0));
    }
  }

  void read_sampling(GenerationDefaults& d) const {
    if (says("do_sample")) d.sample = file_.boolean("do_sample");
    if (says("temperature")) d.temperature = file_.number("temperature", {1e-6, 1e6});
    if (says("top_k")) d.top_k = static_cast<int>(file_.integer("top_k", {0, 1 << 30}));
    if (says("top_p")) d.top_p = file_.number("top_p", {1e-9, 1});
    if (file_.has("min_p")) d.min_p = file_.number("min_p", {0, 1});
    if (d.sample != true) return;
    if (d.beams > 1)
      file_.reject("num_beams", "1 if do_sample is true (Heed does not support beam sampling)");
    // With do_sample, missing settings have the defaults of Hugging Face's library.
    if (!d.temperature) d.temperature = 1;
    if (!d.top_k) d.top_k = 50;
    if (!d.top_p) d.top_p = 1;
  }

  const JsonObject& file_;
  int64_t vocabulary_;
  Task task_;
  bool is_config_;
};

/// Checks decoder_start_token_id, which both files may contain.
void require_same_start(const JsonObject& file, const JsonObject& config) {
  const char* key = "decoder_start_token_id";
  if (!file.has(key)) return;
  const std::string type = config.string("model_type", "");
  if (!config.has(key) && (type == "bart" || type == "m2m_100")) {
    constexpr int kUsual = 2;
    if (file.json().at(key) != kUsual)
      file.reject(key, fmt::format("{} (config.json lacks the key)", kUsual));
    return;
  }
  const char* in_config = config.has(key) ? key : "pad_token_id";
  if (!config.has(in_config) || file.json().at(key) == config.json().at(in_config)) return;
  file.reject(key, fmt::format("the {} of config.json ({})", in_config, config.json().at(in_config).dump()));
}

}  // namespace

GenerationDefaults read_generation_defaults(const std::string& directory, const JsonObject& config,
                                            Task task) {
  if (task != Task::kTranslation && task != Task::kLanguageModel) return {};
  const int64_t vocabulary =
      config.integer("decoder_vocab_size", {1, 1 << 26}, config.integer("vocab_size", {1, 1 << 26}));
  const std::string path = directory + "/generation_config.json";
  if (!is_present(path)) return DefaultsReader(config, vocabulary, task, true).read();
  const JsonObject file = JsonObject::read(path);
  if (task == Task::kTranslation) require_same_start(file, config);
  GenerationDefaults defaults = DefaultsReader(file, vocabulary, task, false).read();
  if (defaults.end_ids.empty()) defaults.end_ids = end_ids_of(config, vocabulary);
  return defaults;
}

void write_generation_defaults(const std::string& directory, const GenerationDefaults& defaults,
                               const SpecialIds& ids) {
  nlohmann::ordered_json json;
  const auto add_id = [&](const char* key, int32_t id) {
    if (id >= 0) json[key] = id;
  };
  for (const int32_t id : defaults.forbidden_ids) json["bad_words_ids"].push_back({id});
  if (!defaults.begin_forbidden_ids.empty()) json["begin_suppress_tokens"] = defaults.begin_forbidden_ids;
  add_id("bos_token_id", ids.begin);
  add_id("decoder_start_token_id", ids.start);
  if (defaults.early_stopping == EarlyStopping::kTrue) json["early_stopping"] = true;
  if (defaults.early_stopping == EarlyStopping::kNever) json["early_stopping"] = "never";
  add_id("eos_token_id", ids.end);
  if (defaults.end_ids.size() > 1) json["eos_token_id"] = defaults.end_ids;
  add_id("forced_bos_token_id", defaults.forced_begin_id);
  add_id("forced_eos_token_id", defaults.forced_end_id);
  json["length_penalty"] = defaults.length_penalty;
  if (defaults.max_length) json["max_length"] = *defaults.max_length;
  if (defaults.max_new) json["max_new_tokens"] = *defaults.max_new;
  if (defaults.min_length > 0) json["min_length"] = defaults.min_length;
  if (defaults.min_new > 0) json["min_new_tokens"] = defaults.min_new;
  if (defaults.no_repeat_ngram_size > 0) json["no_repeat_ngram_size"] = defaults.no_repeat_ngram_size;
  json["num_beams"] = defaults.beams;
  add_id("pad_token_id", ids.padding);
  json["renormalize_logits"] = defaults.renormalize;
  if (defaults.repetition_penalty != 1) json["repetition_penalty"] = defaults.repetition_penalty;
  if (defaults.sample) json["do_sample"] = *defaults.sample;
  if (defaults.temperature) json["temperature"] = *defaults.temperature;
  if (defaults.top_k) json["top_k"] = *defaults.top_k;
  if (defaults.top_p) json["top_p"] = *defaults.top_p;
  if (defaults.min_p) json["min_p"] = *defaults.min_p;
  write_json(directory + "/generation_config.json", json);
}

}  // namespace heed::models
