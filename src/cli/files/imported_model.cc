#include "cli/files/imported_model.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/text/json_file.h"
#include "base/text/json_text.h"
#include "models/architecture.h"
#include "models/directory/generation_defaults.h"
#include "models/stacks/transformer.h"
#include "text/tokenizers/language_tokenizer.h"
#include "text/tokenizers/translation_tokenizer.h"

namespace heed::cli {
namespace {

/// Writes generation_config.json of a translation model, and removes its keys from `config`.
void write_generation(const ImportedModel& model, const std::string& directory,
                      nlohmann::ordered_json& config) {
  const JsonObject read = JsonObject::parse(model.config, model.path);
  const auto id = [&](const char* key) { return static_cast<int32_t>(read.integer(key)); };
  models::write_generation_defaults(
      directory, models::read_generation_defaults(model.files, read, models::Task::kTranslation),
      {id("pad_token_id"), id("eos_token_id"), id("bos_token_id"), id("decoder_start_token_id")});
  for (const char* key : {"bad_words_ids", "forced_eos_token_id", "num_beams", "renormalize_logits"})
    config.erase(key);
}

/// A shared embedding under the names of both stacks too, if the output layer has a weight of its own: with
/// "tie_word_embeddings": false, transformers 5 leaves the embeddings of the stacks random without them. They
/// are aliases for Heed.
std::vector<std::pair<std::string, std::string>> embeddings_of_stacks(const models::Model& model) {
  const auto* transformer = dynamic_cast<const models::Transformer*>(&model);
  if (transformer == nullptr || !model.beyond_hugging_face().empty()) return {};
  const models::TransformerConfig& c = transformer->config();
  if (!c.share_embeddings || c.tied_output) return {};
  const std::string shared = c.family->shared_embedding;
  return {{c.family->encoder.embedding, shared}, {c.family->decoder.embedding, shared}};
}

}  // namespace

std::set<std::string> tied_views(const WeightFiles& files, const models::Model& model) {
  std::set<std::string> views;
  const nn::ParameterTable& table = model.table();
  for (int row = 0; row < table.size(); ++row) {
    for (const std::string& alias : table[row].aliases) {
      if (files.are_same_view(table[row].name, alias)) views.insert(alias);
    }
  }
  for (const auto& [name, shared] : embeddings_of_stacks(model)) views.erase(name);
  return views;
}

ImportedModel import_ctranslate2(const models::ModelDirectory& directory) {
  const auto write_tokenizer = [files = directory.files(), task = directory.task()](const std::string& to) {
    if (task == models::Task::kTranslation) {
      TranslationTokenizer::load(files).save(to);
    } else if (has_language_tokenizer(files)) {
      load_language_tokenizer(files).save(to);
    }
  };
  return {directory.path(), directory.config().json().dump(), directory.weights(), directory.files(),
          write_tokenizer};
}

void write_imported(const ImportedModel& model, const std::string& directory,
                    const WeightConversion& conversion) {
  const JsonObject read = JsonObject::parse(model.config, model.path);
  const models::Architecture& architecture = models::architecture_of(read);
  WeightConversion with_copies = conversion;
  with_copies.copies = embeddings_of_stacks(*architecture.read(read));
  convert_weights(*model.weights, directory, with_copies);
  nlohmann::ordered_json config = parse_ordered_json(model.config, model.path);
  const std::string generation = model_file::kGenerationConfig;
  if (architecture.task == models::Task::kTranslation) {
    write_generation(model, directory, config);
  } else if (model.files.has(generation)) {  // ids are the same
    write_file(directory + "/" + generation, read_file(model.files.path(generation)));
  }
  write_config(config, directory, conversion.dtype);
  model.write_others(directory);
}

void write_config(const nlohmann::ordered_json& config, const std::string& directory, DType dtype) {
  nlohmann::ordered_json json = config;
  json[config.contains("dtype") ? "dtype" : "torch_dtype"] = name_of(dtype);
  write_json(directory + "/" + model_file::kConfig, json);
}

}  // namespace heed::cli
