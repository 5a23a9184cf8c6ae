#include "models/bert_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/check.h"
#include "models/fine_tuning.h"
#include "models/known_keys.h"
#include "models/model_settings.h"

namespace heed::models {
namespace {

constexpr const char* kClassifier = "BertForSequenceClassification";
constexpr const char* kMaskedLm = "BertForMaskedLM";
constexpr const char* kPreTraining = "BertForPreTraining";  // a masked language model with an additional head

/// Without id2label, transformers assumes two classes.
constexpr int kUsualClasses = 2;

/// id2label, whose keys are the numbers 0 to n - 1 as strings.
std::vector<std::string> read_labels(const JsonObject& json) {
  std::vector<std::string> labels;
  if (!json.has("id2label")) {
    const int64_t classes = json.integer("num_labels", {2, 1 << 20}, kUsualClasses);
    for (int64_t n = 0; n < classes; ++n) labels.push_back(fmt::format("LABEL_{}", n));
    return labels;
  }
  const JsonObject names = json.object("id2label");
  const size_t count = names.keys().size();
  if (json.integer("num_labels", {}, static_cast<int64_t>(count)) != static_cast<int64_t>(count)) {
    json.reject("num_labels", fmt::format("the number of entries in id2label ({})", count));
  }
  std::set<std::string> taken;
  for (size_t n = 0; n < count; ++n) {
    const std::string key = std::to_string(n);
    if (!names.has(key)) {
      json.reject("id2label", fmt::format("labels for the numbers 0 to {}", count - 1));
    }
    labels.push_back(names.string(key));
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
    if (labels.back().empty() || std::any_of(labels.back().begin(), labels.back().end(), is_control)) {
      json.reject("id2label", "labels without line ends and tabs");
    }
    if (!taken.insert(labels.back()).second) json.reject("id2label", "distinct labels");
  }
  if (count < 2) json.reject("id2label", "at least two classes (Heed does not support regression)");
  if (json.has("label2id")) {
    const JsonObject numbers = json.object("label2id");
    for (size_t n = 0; n < count; ++n) {
      if (!numbers.has(labels[n]) || numbers.integer(labels[n]) != static_cast<int64_t>(n)) {
        json.reject("label2id", "the same labels and numbers as in id2label");
      }
    }
  }
  return labels;
}

const KnownKeys& bert_keys() {
  static const KnownKeys keys =
      with_common_keys({.read = {"attention_probs_dropout_prob",
                                 "classifier_dropout",
                                 "hidden_act",
                                 "hidden_dropout_prob",
                                 "hidden_size",
                                 "id2label",
                                 "initializer_range",
                                 "intermediate_size",
                                 "label2id",
                                 "layer_norm_eps",
                                 "max_position_embeddings",
                                 "num_attention_heads",
                                 "num_hidden_layers",
                                 "num_labels",
                                 "pad_token_id",
                                 "position_embedding_type",
                                 "problem_type",
                                 "tie_word_embeddings",
                                 "type_vocab_size",
                                 "vocab_size"},
                        // Of the first release, which another toolkit read: its pooler is that of all others.
                        .ignored = {"directionality", "pooler_fc_size", "pooler_num_attention_heads",
                                    "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type"},
                        .neutral = {}});
  return keys;
}

void refuse_what_heed_cannot_do(const JsonObject& json) {
  require_known_keys(json, bert_keys());
  if (!json.boolean("tie_word_embeddings", true)) {
    json.reject("tie_word_embeddings", "true (one embedding for input and output)");
  }
  if (json.string("position_embedding_type", "absolute") != "absolute") {
    json.reject("position_embedding_type", "\"absolute\"");
  }
  const std::string problem = json.string("problem_type", "single_label_classification");
  if (problem != "single_label_classification") {
    json.reject("problem_type", "\"single_label_classification\"");
  }
}

BertConfig read_bert_config(const JsonObject& json) {
  BertConfig c;
  c.vocabulary = json.integer("vocab_size", {1, 1 << 26});
  c.types = json.integer("type_vocab_size", {1, 1024}, c.types);
  c.width = json.integer("hidden_size", {1, 1 << 16});
  c.layers = static_cast<int>(json.integer("num_hidden_layers", {1, 256}));
  c.heads = static_cast<int>(json.integer("num_attention_heads", {1, 1024}));
  c.inner_width = json.integer("intermediate_size", {1, 1 << 20});
  c.activation = json.word("hidden_act", activation_names(), std::optional(Activation::kGelu));
  c.max_length = json.integer("max_position_embeddings", {1, 1 << 20}, c.max_length);
  c.norm_epsilon = json.number("layer_norm_eps", {0, 1}, c.norm_epsilon);
  const NumberRange probability{0, 0.999};
  c.dropout = json.number("hidden_dropout_prob", probability, c.dropout);
  c.attention_dropout = json.number("attention_probs_dropout_prob", probability, c.attention_dropout);
  c.classifier_dropout = json.number("classifier_dropout", probability, c.dropout);
  c.deviation = json.number("initializer_range", {0, 100}, c.deviation);
  c.padding_id = static_cast<int32_t>(json.integer("pad_token_id", {0, c.vocabulary - 1}, c.padding_id));
  if (c.width % c.heads != 0) {
    json.reject("num_attention_heads", fmt::format("a number that divides hidden_size ({})", c.width));
  }
  return c;
}

}  // namespace

std::unique_ptr<Model> read_bert(const JsonObject& json) {
  refuse_what_heed_cannot_do(json);
  const std::vector<std::string> names = json.strings("architectures", std::vector<std::string>{});
  const std::string name = names.size() == 1 ? names[0] : "";
  BertConfig config = read_bert_config(json);
  if (name == kMaskedLm || name == kPreTraining) return std::make_unique<BertMaskedLm>(config);
  if (name != kClassifier) {
    json.reject("architectures",
                fmt::format("one of the supported ones ({}, {}, {})", kClassifier, kMaskedLm, kPreTraining));
  }
  config.labels = read_labels(json);
  return std::make_unique<BertClassifier>(config);
}

nlohmann::ordered_json bert_config_json(const BertConfig& c) {
  nlohmann::ordered_json json;
  json["model_type"] = "bert";
  json["architectures"] = {c.labels.empty() ? kMaskedLm : kClassifier};
  json["vocab_size"] = c.vocabulary;
  json["type_vocab_size"] = c.types;
  json["hidden_size"] = c.width;
  json["num_hidden_layers"] = c.layers;
  json["num_attention_heads"] = c.heads;
  json["intermediate_size"] = c.inner_width;
  json["hidden_act"] = name_in(activation_names(), c.activation);
  json["max_position_embeddings"] = c.max_length;
  json["layer_norm_eps"] = c.norm_epsilon;
  json["hidden_dropout_prob"] = c.dropout;
  json["attention_probs_dropout_prob"] = c.attention_dropout;
  json["initializer_range"] = c.deviation;
  json["pad_token_id"] = c.padding_id;
  json["tie_word_embeddings"] = true;
  if (c.labels.empty()) return json;
  json["classifier_dropout"] = c.classifier_dropout;
  json["problem_type"] = "single_label_classification";
  for (size_t n = 0; n < c.labels.size(); ++n) {
    json["id2label"][std::to_string(n)] = c.labels[n];
    json["label2id"][c.labels[n]] = n;
  }
  return json;
}

// ---- For the table of architectures
// ------------------------------------------------------------------------

namespace {

ModelPreset bert_preset(PresetSize size) {
  ModelPreset preset;
  ModelSettings& s = preset.settings;
  s.activation = Activation::kGelu;
  s.dropout = 0.3;
  s.attention_dropout = 0.1;
  s.max_length = 256;
  switch (size) {
    case PresetSize::kTiny:
      s.width = 32, s.layers = 1, s.heads = 2, s.inner_width = 64;
      s.dropout = 0.1;
      break;
    case PresetSize::kSmall:
      s.width = 128, s.layers = 2, s.heads = 4, s.inner_width = 256;
      break;
    case PresetSize::kBase:
      s.width = 256, s.layers = 4, s.heads = 4, s.inner_width = 1024;
      break;
  }
  preset.learning_rate = 1e-3;
  preset.warmup_steps = 100;
  preset.clip_norm = 1;
  return preset;
}

std::unique_ptr<Model> make_bert(const ModelSettings& s) {
  BertConfig c;
  c.vocabulary = s.vocabulary;
  c.width = s.width;
  c.layers = s.layers;
  c.heads = s.heads;
  c.inner_width = s.inner_width;
  c.activation = s.activation;
  c.max_length = s.max_length;
  c.dropout = c.classifier_dropout = s.dropout;
  c.attention_dropout = s.attention_dropout;
  c.padding_id = s.padding_id;
  c.labels = s.labels;
  return std::make_unique<BertClassifier>(c);
}

/// A classifier of the text's labels, from a classifier of the same or others, or a masked language model.
FineTunedModel read_bert_for_fine_tuning(const JsonObject& json, const ModelSettings& text) {
  refuse_what_heed_cannot_do(json);
  BertConfig config = read_bert_config(json);
  config.labels = text.labels;
  return {std::make_unique<BertClassifier>(config), {"classifier.", "bert.pooler."}};
}

}  // namespace

Architecture bert_architecture() {
  return {.name = "bert",
          .description = "encoder-only classifier (Devlin et al., 2019)",
          .task = Task::kClassification,
          .model_types = {"bert"},
          .settings = {"width", "layers", "heads", "feed_forward_width", "activation", "max_length",
                       "dropout", "attention_dropout"},
          .dropouts = {{"dropout", &ModelSettings::dropout, {"hidden_dropout_prob", "classifier_dropout"}},
                       {"attention_dropout",
                        &ModelSettings::attention_dropout,
                        {"attention_probs_dropout_prob"}}},
          .preset = bert_preset,
          .make = make_bert,
          .read = read_bert,
          .read_for_fine_tuning = read_bert_for_fine_tuning};
}

nlohmann::ordered_json BertClassifier::config_json() const {
  return bert_config_json(config_);
}

nlohmann::ordered_json BertMaskedLm::config_json() const {
  return bert_config_json(config_);
}

}  // namespace heed::models
