#include "models/directory/generation_defaults.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "models/config/config_keys.h"
#include "models/seq2seq.h"

namespace heed::models {
namespace {

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
    visit_generation_defaults(d, [&](const char* key, auto& field, const auto&... range) {
      if (says(key)) read(key, field, range...);
    });
    if (file_.has("early_stopping")) d.early_stopping = early_stopping_of(file_);
    read_ids(d);
    std::vector<AlignmentHead> heads = alignment_heads_of(file_);
    if (!is_config_) d.alignment_heads = std::move(heads);
    complete_sampling(d);
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
    return !is_config_ || !usual.contains(key) || file_.json().at(key) != usual.at(key);
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

  /// `Field`: bool or std::optional<bool>.
  template <typename Field>
  void read(const char* key, Field& field) const {
    field = file_.boolean(key);
  }
  /// `Field`: Number or std::optional<Number>.
  template <typename Field, typename Number>
  void read(const char* key, Field& field, const ValueRange<Number>& range) const {
    Number number = 0;
    if constexpr (std::is_integral_v<Number>) {
      number = static_cast<Number>(file_.integer(key, {range.least, range.most}));
    } else {
      number = file_.number(key, {range.least, range.most});
    }
    if (!range.holds(number)) file_.reject(key, fmt::format("a number above {}", range.least));
    field = number;
  }

  void read_ids(GenerationDefaults& d) const {
    d.end_ids = end_ids_of(file_, vocabulary_);
    d.forced_begin_id = one_id("forced_bos_token_id");
    if (d.forced_begin_id >= 0 && task_ != Task::kTranslation) {
      file_.reject("forced_bos_token_id", "null (for language models)");
    }
    d.forced_end_id = one_id("forced_eos_token_id");
    if (is_config_) read_usual_forced_ids(d);
    if (file_.has("bad_words_ids")) d.forbidden_ids = bad_words_of(file_, vocabulary_, d.end_ids);
    for (const int32_t id : ids("suppress_tokens")) d.forbidden_ids.push_back(id);
    d.begin_forbidden_ids = ids("begin_suppress_tokens");
  }

  /// The defaults of a config.json of BART, mBART and Marian. force_bos_token_to_be_generated is the oldest
  /// form, in BART and mBART.
  void read_usual_forced_ids(GenerationDefaults& d) const {
    const std::string type = file_.string("model_type", "");
    const bool marian = type == "marian";
    if (type != "bart" && type != "mbart" && !marian) return;
    if (!file_.json().contains("forced_eos_token_id")) {
      const int32_t usual_end = marian ? 0 : 2;
      d.forced_end_id = d.end_ids.empty() ? usual_end : d.end_ids.front();
    }
    if (marian) return;
    if (!file_.has("forced_bos_token_id") && file_.boolean("force_bos_token_to_be_generated", false)) {
      d.forced_begin_id = static_cast<int32_t>(file_.integer("bos_token_id", {0, vocabulary_ - 1}, 0));
    }
  }

  void complete_sampling(GenerationDefaults& d) const {
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

nlohmann::json settings_of(const GenerationDefaults& defaults) {
  nlohmann::json json = nlohmann::json::object();
  visit_generation_defaults(defaults, [&](const char* key, const auto& field, const auto&...) {
    if constexpr (requires { field.has_value(); }) {
      if (field) json[key] = *field;
    } else {
      json[key] = field;
    }
  });
  return json;
}

}  // namespace

GenerationDefaults read_generation_defaults(const ModelInventory& files, const JsonObject& config,
                                            Task task) {
  if (task != Task::kTranslation && task != Task::kLanguageModel) return {};
  const int64_t vocabulary =
      config.integer("decoder_vocab_size", {1, 1 << 26}, config.integer("vocab_size", {1, 1 << 26}));
  if (!files.has(model_file::kGenerationConfig)) return DefaultsReader(config, vocabulary, task, true).read();
  const JsonObject file = JsonObject::read(files.path(model_file::kGenerationConfig));
  if (task == Task::kTranslation) require_same_start(file, config);
  GenerationDefaults defaults = DefaultsReader(file, vocabulary, task, false).read();
  if (defaults.end_ids.empty()) defaults.end_ids = end_ids_of(config, vocabulary);
  return defaults;
}

SpecialIds special_ids_of(const Model& model, const JsonObject& config) {
  SpecialIds ids;
  for (const int64_t id : config.integers("bos_token_id", {-1, INT32_MAX}, std::vector<int64_t>{}))
    ids.begin = static_cast<int32_t>(id);
  if (const auto* writes = dynamic_cast<const AutoregressiveModel*>(&model)) {
    ids.padding = writes->padding_id();
    ids.end = writes->end_id();
  }
  if (const auto* translates = dynamic_cast<const Seq2Seq*>(&model)) ids.start = translates->start_id();
  return ids;
}

void write_generation_defaults(const std::string& directory, const GenerationDefaults& defaults,
                               const SpecialIds& ids) {
  nlohmann::json json = nlohmann::json::object();
  const auto add_id = [&](const char* key, int32_t id) {
    if (id >= 0) json[key] = id;
  };
  for (const auto& [layer, head] : defaults.alignment_heads) json["alignment_heads"].push_back({layer, head});
  if (!defaults.forbidden_ids.empty()) {
    nlohmann::json words = nlohmann::json::array();
    for (const int32_t id : defaults.forbidden_ids) words.push_back({id});
    json["bad_words_ids"] = std::move(words);
  }
  if (!defaults.begin_forbidden_ids.empty()) json["begin_suppress_tokens"] = defaults.begin_forbidden_ids;
  add_id("bos_token_id", ids.begin);
  add_id("decoder_start_token_id", ids.start);
  if (defaults.early_stopping == EarlyStopping::kTrue) json["early_stopping"] = true;
  if (defaults.early_stopping == EarlyStopping::kNever) json["early_stopping"] = "never";
  add_id("eos_token_id", defaults.end_ids.empty() ? ids.end : defaults.end_ids.front());
  if (defaults.end_ids.size() > 1) json["eos_token_id"] = defaults.end_ids;
  add_id("forced_bos_token_id", defaults.forced_begin_id);
  add_id("forced_eos_token_id", defaults.forced_end_id);
  add_id("pad_token_id", ids.padding);
  const nlohmann::json settings = settings_of(defaults), usual = settings_of({});
  for (const auto& [key, value] : settings.items()) {
    if (!usual.contains(key) || usual.at(key) != value) json[key] = value;
  }
  write_json(directory + "/" + model_file::kGenerationConfig, json);
}

}  // namespace heed::models
