#include "models/directory/sentence_modules.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/files/file.h"
#include "base/text/json_file.h"
#include "base/text/known_keys.h"

namespace heed::models {
namespace {

namespace fs = std::filesystem;

/// "sentence_transformers.models.Pooling" -> "Pooling"; the folders between have changed with time.
std::string class_of(const JsonObject& module) {
  const std::string type = module.string("type");
  if (!type.starts_with("sentence_transformers.")) module.reject("type", "a module of sentence_transformers");
  return type.substr(type.rfind('.') + 1);
}

std::string folder_of(const JsonObject& module) {
  std::string path = module.string("path", "");
  if (path.find_first_of("/\\") != std::string::npos || path.starts_with(".")) {
    module.reject("path", "the name of a folder of the model");
  }
  return path;
}

/// The settings of pooling: a flag for each kind, or their names.
std::vector<Pooling> read_kinds(const JsonObject& json) {
  std::vector<Pooling> kinds;
  if (json.has("pooling_mode")) {
    for (const std::string& name : json.strings("pooling_mode")) {
      const auto found = std::ranges::find(pooling_names(), name, &std::pair<std::string, Pooling>::first);
      if (found == pooling_names().end()) {
        json.reject("pooling_mode", "\"cls\", \"max\", \"mean\" or \"mean_sqrt_len_tokens\"");
      }
      kinds.push_back(found->second);
    }
    if (kinds.empty()) json.reject("pooling_mode", "the name of a pooling, or several");
    return kinds;
  }
  static const std::vector<std::pair<std::string, Pooling>> flags{
      {"pooling_mode_cls_token", Pooling::kCls},
      {"pooling_mode_max_tokens", Pooling::kMax},
      {"pooling_mode_mean_tokens", Pooling::kMean},
      {"pooling_mode_mean_sqrt_len_tokens", Pooling::kMeanSqrt}};
  for (const auto& [flag, kind] : flags) {
    if (json.boolean(flag, false)) kinds.push_back(kind);
  }
  if (json.has("pooling_mode_mean_tokens")) {
    if (kinds.empty()) json.reject("pooling_mode_mean_tokens", "true, or one of the other poolings");
    return kinds;
  }
  // The mean is the default. sentence-transformers adds it to other poolings up to the versions that write a
  // flag for each pooling, but not in those that write pooling_mode.
  if (kinds.empty()) return {Pooling::kMean};
  json.reject("pooling_mode_mean_tokens",
              "true or false, since versions of sentence-transformers differ in whether the mean follows the "
              "other poolings: true if the model's vectors contain it");
}

void read_pooling(const std::string& path, int64_t width, SentenceModules& modules) {
  const JsonObject json = JsonObject::read(path);
  static const KnownKeys keys{
      .read = {"embedding_dimension", "include_prompt", "pooling_mode", "pooling_mode_cls_token",
               "pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens", "pooling_mode_mean_tokens",
               "word_embedding_dimension"},
      .ignored = {},
      .neutral = {{"pooling_mode_lasttoken", {false}}, {"pooling_mode_weightedmean_tokens", {false}}}};
  require_known_keys(json, keys);
  for (const char* key : {"word_embedding_dimension", "embedding_dimension"}) {
    if (json.integer(key, {}, width) != width) {
      json.reject(key, fmt::format("the width of the encoder, {}", width));
    }
  }
  modules.pooling = read_kinds(json);
  modules.pools_prompts = json.boolean("include_prompt", true);
}

/// sentence_bert_config.json, whose name follows the kind of encoder in older files.
void read_transformer(const ModelInventory& files, SentenceModules& modules) {
  for (const char* kind : {"bert", "roberta", "distilbert", "xlm-roberta", "camembert", "albert", "xlnet"}) {
    const std::string name = fmt::format("sentence_{}_config.json", kind);
    if (!files.has(name)) continue;
    const JsonObject json = JsonObject::read(files.path(name));
    static const KnownKeys keys{.read = {"do_lower_case", "max_seq_length"},
                                .ignored = {"modality_config"},
                                .neutral = {{"module_output_name", {"token_embeddings"}},
                                            {"transformer_task", {"feature-extraction"}}}};
    require_known_keys(json, keys);
    modules.max_length = json.integer("max_seq_length", {1, 1 << 24}, 0);
    modules.lowercase = json.boolean("do_lower_case", false);
    return;
  }
}

void read_prompts(const ModelInventory& files, SentenceModules& modules) {
  if (!files.has(model_file::kPrompts)) return;
  const JsonObject json = JsonObject::read(files.path(model_file::kPrompts));
  static const KnownKeys keys{.read = {"default_prompt_name", "prompts"},
                              .ignored = {"similarity_fn_name"},
                              .neutral = {{"model_type", {"SentenceTransformer"}}}};
  require_known_keys(json, keys);
  if (json.has("prompts")) {
    const JsonObject prompts = json.object("prompts");
    for (const std::string& name : prompts.keys()) modules.prompts[name] = prompts.string(name, "");
  }
  modules.prompt = json.string("default_prompt_name", "");
  if (!modules.prompt.empty() && !modules.prompts.contains(modules.prompt)) {
    json.reject("default_prompt_name", "the name of one of the prompts");
  }
}

/// The list of modules.json; empty without one.
std::vector<JsonObject> read_modules(const ModelInventory& files) {
  if (!files.has(model_file::kModules)) return {};
  const std::string path = files.path(model_file::kModules);
  // A list at the top of the file.
  return JsonObject::parse("{\"modules\": " + read_file(path) + "}", path).objects("modules");
}

}  // namespace

std::vector<std::string> model_files(const ModelInventory& files) {
  std::vector<std::string> paths;
  const auto add = [&](const ModelInventory& folder, const std::string& prefix) {
    for (const std::string& name : folder.ending_in({""})) {
      if (fs::is_regular_file(folder.path(name))) paths.push_back(prefix + name);
    }
  };
  add(files, "");
  for (const JsonObject& module : read_modules(files)) {
    const std::string folder = folder_of(module);
    if (!folder.empty()) add(ModelInventory(files.path(folder)), folder + '/');
  }
  return paths;
}

const std::vector<std::pair<std::string, Pooling>>& pooling_names() {
  static const std::vector<std::pair<std::string, Pooling>> names{
      {"cls", Pooling::kCls},
      {"max", Pooling::kMax},
      {"mean", Pooling::kMean},
      {"mean_sqrt_len_tokens", Pooling::kMeanSqrt}};
  return names;
}

SentenceModules read_sentence_texts(const ModelInventory& files) {
  SentenceModules modules;
  if (!files.has(model_file::kModules)) return modules;
  read_transformer(files, modules);
  read_prompts(files, modules);
  return modules;
}

SentenceModules read_sentence_modules(const ModelInventory& files, int64_t width) {
  SentenceModules modules = read_sentence_texts(files);
  if (!files.has(model_file::kModules)) return modules;
  std::vector<std::string> classes;
  for (const JsonObject& module : read_modules(files)) {
    classes.push_back(class_of(module));
    const std::string folder = folder_of(module);
    if (classes.back() == "Transformer" && !folder.empty()) {
      module.reject("path", "\"\": the encoder in the directory itself");
    }
    if (classes.back() == "Pooling") {
      read_pooling(fmt::format("{}/{}/{}", files.directory(), folder, model_file::kConfig), width, modules);
    }
    modules.normalize = modules.normalize || classes.back() == "Normalize";
  }
  const std::vector<std::string> pooled{"Transformer", "Pooling"},
      normalized{"Transformer", "Pooling", "Normalize"};
  if (classes != pooled && classes != normalized) {
    fail(ErrorKind::kFormat,
         "{}: the modules are {}, but Heed supports Transformer, Pooling and, if need be, "
         "Normalize, in this order",
         files.path(model_file::kModules), fmt::join(classes, ", "));
  }
  return modules;
}

}  // namespace heed::models
