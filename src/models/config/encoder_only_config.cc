#include "models/config/encoder_only_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/check.h"
#include "models/classifier.h"
#include "models/directory/model_settings.h"
#include "models/masked_language_model.h"

namespace heed::models {
namespace {

constexpr const char* kClassifier = "ForSequenceClassification";
constexpr const char* kMaskedLm = "ForMaskedLM";
constexpr const char* kNoHead = "Model";
constexpr const char* kProblem = "single_label_classification";

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

std::string class_name(const EncoderOnlyConfig& config) {
  const char* suffix = config.head == EncoderHead::kClassifier   ? kClassifier
                       : config.head == EncoderHead::kVocabulary ? kMaskedLm
                                                                 : kNoHead;
  return config.family->class_prefix + suffix;
}

}  // namespace

EncoderHead read_head(const JsonObject& json, const EncoderOnlyFamily& family) {
  const std::vector<std::string> names = json.strings("architectures", std::vector<std::string>{});
  const std::string name = names.size() == 1 ? names[0] : "";
  std::vector<std::pair<std::string, EncoderHead>> known{
      {family.class_prefix + kClassifier, EncoderHead::kClassifier},
      {family.class_prefix + kMaskedLm, EncoderHead::kVocabulary},
      {family.class_prefix + kNoHead, EncoderHead::kNone}};
  if (!family.pretraining_class.empty()) {
    known.emplace_back(family.pretraining_class, EncoderHead::kVocabulary);
  }
  std::vector<std::string> supported;
  for (const auto& [each, head] : known) {
    if (each == name) return head;
    supported.push_back(each);
  }
  json.reject("architectures", fmt::format("one of the supported ones ({})", fmt::join(supported, ", ")));
}

namespace {

/// Special tokens, which the tokenizer files define: kept for other toolkits.
void describe_token_ids(ConfigFields& fields, EncoderOnlyConfig& c) {
  const std::vector<std::string> keys{"bos_token_id", "cls_token_id", "eos_token_id", "sep_token_id"};
  const auto read = [&](const JsonObject& json) {
    for (const std::string& key : keys) {
      if (!json.has(key) || !json.json().at(key).is_number_integer()) continue;
      c.token_ids.emplace_back(key, json.integer(key));
    }
  };
  fields.custom(keys, read, [&](nlohmann::ordered_json& json) {
    for (const auto& [key, id] : c.token_ids) json[key] = id;
  });
}

void write_labels(const EncoderOnlyConfig& c, nlohmann::ordered_json& json) {
  json["problem_type"] = kProblem;
  for (size_t n = 0; n < c.labels.size(); ++n) {
    json["id2label"][std::to_string(n)] = c.labels[n];
    json["label2id"][c.labels[n]] = n;
  }
}

/// The labels of a classifier; whether the output of a masked language model is tied.
void describe_head(ConfigFields& fields, EncoderOnlyConfig& c) {
  fields.custom(
      {"tie_word_embeddings"},
      [&](const JsonObject& json) {
        if (c.head != EncoderHead::kVocabulary) return;
        c.tied_output = json.boolean("tie_word_embeddings", true);
      },
      [&](nlohmann::ordered_json& json) { json["tie_word_embeddings"] = c.tied_output; });
  const auto read = [&](const JsonObject& json) {
    if (c.head != EncoderHead::kClassifier) return;
    if (json.string("problem_type", kProblem) != kProblem) {
      json.reject("problem_type", fmt::format("\"{}\"", kProblem));
    }
    c.labels = read_labels(json);
  };
  fields.custom({"id2label", "label2id", "num_labels", "problem_type"}, read,
                [&](nlohmann::ordered_json& json) {
                  if (c.head == EncoderHead::kClassifier) write_labels(c, json);
                });
}

}  // namespace

void describe_bert_like(ConfigFields& fields, EncoderOnlyConfig& c, const BertLikeKeys& names,
                        const BertLikeDefaults& defaults) {
  describe_sizes(fields, c, names.sizes);
  fields.integer(names.inner_width, c.inner_width, kInnerWidths);
  fields.word(names.activation, c.activation, activation_names(), Activation::kGelu);
  if (!names.norm_epsilon.empty()) {
    fields.number(names.norm_epsilon, c.norm_epsilon, {0, 1}, defaults.norm_epsilon);
  }
  fields.number(names.dropout, c.dropout, kProbabilities, defaults.dropout);
  fields.derive([&](const JsonObject&) { c.embedding_dropout = c.dropout; });
  fields.number(names.attention_dropout, c.attention_dropout, kProbabilities, defaults.dropout);
  if (!names.classifier_dropout.empty()) {
    fields.number(names.classifier_dropout, c.classifier_dropout, kProbabilities,
                  defaults.classifier_dropout.value_or(c.dropout));
  } else {
    fields.derive([&](const JsonObject&) { c.classifier_dropout = c.dropout; });
  }
  fields.number("initializer_range", c.deviation, {0, 100}, 0.02);
  fields.integer("pad_token_id", c.padding_id, {0, c.vocabulary - 1}, defaults.padding_id);
  require_whole_heads(fields, c, names.sizes.width, {names.sizes.heads});
  describe_token_ids(fields, c);
  describe_head(fields, c);
}

void describe_max_length(ConfigFields& fields, EncoderOnlyConfig& c, int32_t padding, int64_t usual) {
  const char* key = "max_position_embeddings";
  const auto read = [&](const JsonObject& json) {
    const int64_t rows = json.integer(key, {1, 1 << 20}, usual);
    if (rows <= padding + 1) {
      json.reject(key,
                  fmt::format("more rows than the {} that stand before the first position", padding + 1));
    }
    c.position_padding_id = padding;
    c.max_length = rows - (padding + 1);
  };
  fields.custom({key}, read,
                [&](nlohmann::ordered_json& json) { json[key] = c.max_length + c.position_padding_id + 1; });
}

void describe_absolute_positions(ConfigFields& fields) {
  fields.neutral("position_embedding_type", {"absolute"});
}

namespace {

EncoderOnlyConfig config_of(const EncoderOnlyFamily& family, EncoderHead head) {
  EncoderOnlyConfig config;
  config.family = &family;
  config.head = head;
  return config;
}

}  // namespace

KnownKeys encoder_only_keys(const EncoderOnlyFamily& family) {
  return keys_of(family.describe, config_of(family, EncoderHead::kNone));
}

EncoderOnlyConfig read_encoder_only(const JsonObject& json, const EncoderOnlyFamily& family,
                                    EncoderHead head) {
  return read_config(json, family.describe, config_of(family, head));
}

nlohmann::ordered_json encoder_only_json(const EncoderOnlyConfig& config) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["model_type"] = config.family->model_type;
  json["architectures"] = {class_name(config)};
  write_config(config, config.family->describe, json);
  return json;
}

// ---- For the table of architectures ----------------------------------------------------------------------

namespace {

ModelPreset encoder_preset(PresetSize size) {
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

}  // namespace

EncoderOnlyConfig encoder_config(const ModelSettings& s, const EncoderOnlyFamily& family) {
  EncoderOnlyConfig c = config_of(family, EncoderHead::kClassifier);
  apply_settings(s, c);
  c.classifier_dropout = s.dropout;
  c.token_ids = {{"bos_token_id", s.start_id},
                 {"cls_token_id", s.start_id},
                 {"eos_token_id", s.end_id},
                 {"sep_token_id", s.end_id}};
  c.labels = s.labels;
  return c;
}

Architecture encoder_architecture(const EncoderRow& row) {
  return {.name = row.name,
          .description = row.description,
          .task = Task::kClassification,
          .token_types = row.token_types,
          .model_types = {row.model_type},
          .settings = {"width", "layers", "heads", "feed_forward_width", "activation", "max_length",
                       "dropout", "attention_dropout"},
          .dropouts = {{"dropout", &ModelSettings::dropout, row.dropout_keys},
                       {"attention_dropout", &ModelSettings::attention_dropout, row.attention_dropout_keys}},
          .preset = encoder_preset};
}

FineTunedModel encoder_for_fine_tuning(EncoderOnlyConfig config, const ModelSettings& text) {
  config.head = EncoderHead::kClassifier;
  config.labels = text.labels;
  const EncoderOnlyFamily::ClassifierHead& head = config.family->classifier;
  std::vector<std::string> new_prefixes{head.output + ".", head.dense + "."};
  if (!head.norm.empty()) new_prefixes.push_back(head.norm + ".");
  return {make_encoder_only(config), new_prefixes};
}

template <typename Interface>
nlohmann::ordered_json WithEncoderStack<Interface>::config_json() const {
  return encoder_only_json(config_);
}

template class WithEncoderStack<Encoder>;
template class WithEncoderStack<Classifier>;
template class WithEncoderStack<MaskedLanguageModel>;

}  // namespace heed::models
