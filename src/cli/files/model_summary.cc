#include "cli/files/model_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/file.h"
#include "base/text/json_file.h"
#include "models/directory/loaded_model.h"
#include "models/directory/model_directory.h"
#include "text/tokenizers/language_tokenizer.h"
#include "text/tokenizers/translation_tokenizer.h"
#include "text/unicode/whitespace.h"

namespace heed::cli {
namespace {

/// "model.encoder.layers.3.self_attn.q_proj.weight" -> "model.encoder.layers.*.self_attn": the layer number
/// becomes a star, and only one component after it is kept.
std::string group_name(const std::string& name) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts.size() > 1) parts.pop_back();
  for (size_t n = 0; n < parts.size(); ++n) {
    if (parts[n].find_first_not_of("0123456789") != std::string::npos || parts[n].empty()) continue;
    parts[n] = "*";
    if (n + 2 < parts.size()) parts.resize(n + 2);
  }
  return fmt::format("{}", fmt::join(parts, "."));
}

/// CTranslate2's integers with a scale are read as float32.
std::string stored_type(const TensorInfo& info) {
  if (!info.readable) return info.type;
  if (info.dtype != DType::kFloat32 || info.type == "F32") return name_of(info.dtype);
  return info.type == "I8" ? "int8" : "int16";
}

void read_weights(const WeightFiles& files, ModelSummary& summary) {
  std::map<std::string, ParameterGroup> groups;
  std::set<std::string> dtypes;
  summary.bytes = files.bytes();
  for (const std::string& name : files.names_without_views()) {
    const TensorInfo& info = files.info(name);
    if (models::is_part_of_quantized(files, name)) continue;  // scales are not parameters
    const bool two_in_a_byte = models::is_in_4_bits(files, name);
    const int64_t elements = info.shape.size() * (two_in_a_byte ? 2 : 1);
    dtypes.insert(two_in_a_byte ? "int4" : stored_type(info));
    ParameterGroup& group = groups[group_name(name)];
    group.name = group_name(name);
    ++group.tensors;
    group.elements += elements;
    summary.parameters += elements;
  }
  for (const auto& [name, group] : groups) summary.groups.push_back(group);
  summary.dtypes.assign(dtypes.begin(), dtypes.end());
}

/// The Euclidean norm of the embedding that a Marian model's decoder starts from; empty if the config does
/// not tell.
std::optional<double> start_norm_of(const models::ModelDirectory& directory) {
  const JsonObject& config = directory.config();
  if (config.string("model_type", "") != "marian") return {};
  const char* key = config.has("decoder_start_token_id") ? "decoder_start_token_id" : "pad_token_id";
  const int64_t start = config.integer(key, {}, -1);
  const WeightFiles& files = *directory.weights();
  for (const char* name : {"model.shared.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"}) {
    if (!files.has(name)) continue;
    const TensorInfo& info = files.info(name);
    if (!info.readable || info.shape.rank() != 2 || start < 0 || start >= info.shape[0]) return {};
    double scale = 1, squares = 0;
    if (const std::string scales = std::string(name) + "_scale"; files.has(scales)) {
      scale = files.read_rows(scales, start, 1).to_vector<double>().at(0);
    }
    for (const double x : files.read_rows(name, start, 1).to_vector<double>()) squares += x * x;
    return scale * std::sqrt(squares);
  }
  return {};
}

/// Readable names for the config keys of all architectures.
void read_dimensions(const JsonObject& config, ModelSummary& summary) {
  static const std::vector<std::pair<const char*, const char*>> known{
      {"d_model", "width"},
      {"n_embd", "width"},
      {"hidden_size", "width"},
      {"encoder_layers", "encoder layers"},
      {"decoder_layers", "decoder layers"},
      {"n_layer", "layers"},
      {"dim", "width"},
      {"num_hidden_layers", "layers"},
      {"num_layers", "encoder layers"},
      {"num_decoder_layers", "decoder layers"},
      {"n_layers", "layers"},
      {"encoder_attention_heads", "encoder heads"},
      {"decoder_attention_heads", "decoder heads"},
      {"n_head", "heads"},
      {"num_attention_heads", "heads"},
      {"num_heads", "heads"},
      {"d_kv", "head width"},
      {"n_heads", "heads"},
      {"num_key_value_heads", "key-value heads"},
      {"encoder_ffn_dim", "encoder feed-forward width"},
      {"decoder_ffn_dim", "decoder feed-forward width"},
      {"intermediate_size", "feed-forward width"},
      {"n_inner", "feed-forward width"},
      {"d_ff", "feed-forward width"},
      {"activation_function", "activation"},
      {"hidden_act", "activation"},
      {"feed_forward_proj", "activation"},
      {"hidden_dim", "feed-forward width"},
      {"hidden_activation", "activation"},
      {"activation", "activation"},
      {"max_position_embeddings", "positions"},
      {"n_positions", "positions"},
  };
  for (const auto& [key, name] : known) {
    if (!config.has(key)) continue;
    const auto& value = config.json().at(key);
    if (value.is_number_integer() || value.is_string()) {
      summary.dimensions.emplace_back(name,
                                      value.is_string() ? shown(value.get<std::string>()) : value.dump());
    }
  }
}

/// id2label of a classifier, in order. Configs of other models may contain id2label without using it.
std::vector<std::string> labels_of(const JsonObject& config) {
  std::vector<std::string> labels;
  const std::vector<std::string> architectures = config.strings("architectures", std::vector<std::string>{});
  const bool classifies =
      std::any_of(architectures.begin(), architectures.end(),
                  [](const std::string& name) { return name.ends_with("ForSequenceClassification"); });
  if (!classifies || !config.has("id2label")) return labels;
  const JsonObject names = config.object("id2label");
  for (size_t n = 0; names.has(std::to_string(n)); ++n)
    labels.push_back(shown(names.string(std::to_string(n))));
  return labels;
}

/// The license key of the model card's YAML front matter.
std::string licence_of(const ModelInventory& files) {
  if (!files.has(model_file::kCard)) return "";
  const std::string card = read_file(files.path(model_file::kCard));
  constexpr std::string_view kKey = "license:";
  bool first = true;
  for (size_t begin = 0; begin < card.size();) {
    const size_t end = std::min(card.find('\n', begin), card.size());
    const std::string_view line = std::string_view(card).substr(begin, end - begin);
    begin = end + 1;
    if (first != (strip_right(line) == "---")) return "";  // no front matter, or its end
    first = false;
    if (line.starts_with(kKey)) return shown(strip(line.substr(kKey.size())));
  }
  return "";
}

/// Checks everything but the values of the weights.
std::string problem_of(const models::ModelDirectory& directory) {
  const ModelInventory& files = directory.files();
  try {
    const models::Task task = directory.task();
    const std::unique_ptr<models::Model> model = directory.create_model();
    models::require_weights(*directory.weights(), model->table(), directory.quantized_bits());
    if (directory.quantized_bits() == 0) models::require_equal_copies(*directory.weights(), model->table());
    directory.generation();
    if (task == models::Task::kTranslation) TranslationTokenizer::load(files);
    if (task == models::Task::kLanguageModel && has_language_tokenizer(files)) load_language_tokenizer(files);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// 1234567 -> "1,234,567"
std::string with_commas(int64_t number) {
  std::string text = fmt::format("{}", number);
  for (auto position = static_cast<std::ptrdiff_t>(text.size()) - 3; position > 0; position -= 3) {
    text.insert(static_cast<size_t>(position), 1, ',');
  }
  return text;
}

}  // namespace

ModelSummary summarize_model(const ModelInventory& files) {
  const models::ModelDirectory directory = models::ModelDirectory::open(files);
  const JsonObject& config = directory.config();
  ModelSummary summary;
  summary.directory = files.directory();
  summary.model_type = config.string("model_type", "");
  summary.vocabulary = config.integer("vocab_size", {0, int64_t{1} << 40}, 0);
  read_dimensions(config, summary);
  summary.labels = labels_of(config);
  read_weights(*directory.weights(), summary);
  summary.start_norm = start_norm_of(directory);
  if (files.has(model_file::kTokenizerConfig)) {
    const JsonObject tokenizer = JsonObject::read(files.path(model_file::kTokenizerConfig));
    summary.source_language = tokenizer.string("source_lang", tokenizer.string("src_lang", ""));
    summary.target_language = tokenizer.string("target_lang", tokenizer.string("tgt_lang", ""));
  }
  summary.licence = licence_of(files);
  summary.format = directory.format();
  summary.problem = problem_of(directory);
  return summary;
}

nlohmann::ordered_json to_json(const ModelSummary& s) {
  nlohmann::ordered_json json{{"model", s.directory},
                              {"model_type", s.model_type},
                              {"parameters", s.parameters},
                              {"bytes", s.bytes},
                              {"weights", s.dtypes},
                              {"format", s.format},
                              {"vocabulary", s.vocabulary},
                              {"source_language", s.source_language},
                              {"target_language", s.target_language},
                              {"licence", s.licence}};
  if (s.start_norm) json["start_norm"] = *s.start_norm;
  if (!s.labels.empty()) json["labels"] = s.labels;
  if (!s.problem.empty()) json["problem"] = s.problem;
  for (const auto& [name, value] : s.dimensions) json["dimensions"][name] = value;
  for (const ParameterGroup& group : s.groups) {
    json["groups"].push_back(
        {{"name", group.name}, {"tensors", group.tensors}, {"elements", group.elements}});
  }
  return json;
}

std::string to_text(const ModelSummary& s) {
  std::string text;
  const auto line = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:<14}{}\n", name, value);
  };
  line("model", s.directory);
  std::vector<std::string> dimensions;
  for (const auto& [name, value] : s.dimensions) dimensions.push_back(fmt::format("{} {}", name, value));
  line("architecture", shown(s.model_type));
  for (size_t n = 0; n < dimensions.size(); n += 3) {
    const std::vector<std::string> some(
        dimensions.begin() + static_cast<std::ptrdiff_t>(n),
        dimensions.begin() + static_cast<std::ptrdiff_t>(std::min(n + 3, dimensions.size())));
    line("", fmt::format("{}", fmt::join(some, ", ")));
  }
  if (!s.source_language.empty())
    line("languages", fmt::format("{} to {}", shown(s.source_language), shown(s.target_language)));
  if (s.vocabulary > 0) line("vocabulary", fmt::format("{} pieces", with_commas(s.vocabulary)));
  line("classes", fmt::format("{}", fmt::join(s.labels, ", ")));
  line("licence", s.licence);
  line("weights", fmt::format("{} in {}, {:.1f} MB ({})", with_commas(s.parameters),
                              printable(fmt::format("{}", fmt::join(s.dtypes, ", "))),
                              static_cast<double>(s.bytes) / 1e6, s.format));
  if (!s.problem.empty()) line("cannot open", s.problem);
  if (s.start_norm.value_or(0) != 0) {
    line("start vector",
         fmt::format("not zero (norm {:.2f}): toolkits that start Marian models from a zero vector, like "
                     "CTranslate2, give different translations of some sentences",
                     *s.start_norm));
  }
  size_t longest = 0;
  for (const ParameterGroup& group : s.groups) longest = std::max(longest, printable(group.name).size());
  text += fmt::format("\n  {:<{}}  tensors    elements  share\n", "parameters", longest);
  for (const ParameterGroup& group : s.groups) {
    text += fmt::format(
        "  {:<{}}  {:>7}  {:>10}  {:>4.1f}%\n", printable(group.name), longest, group.tensors,
        with_commas(group.elements),
        100 * static_cast<double>(group.elements) / static_cast<double>(std::max<int64_t>(s.parameters, 1)));
  }
  return text;
}

}  // namespace heed::cli
