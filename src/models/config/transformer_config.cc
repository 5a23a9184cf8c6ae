#include "models/config/transformer_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/check.h"
#include "models/directory/model_settings.h"
#include "models/families/transformer_families.h"

namespace heed::models {

namespace {

using nn::SinusoidFrequencies;

const Words<SinusoidFrequencies>& frequency_names() {
  static const Words<SinusoidFrequencies> names{{"by_width", SinusoidFrequencies::kByWidth},
                                                {"by_halves", SinusoidFrequencies::kByHalves}};
  return names;
}

/// By halves there are as many sines as cosines, and at least two frequencies.
void check_frequencies(const JsonObject& json, const TransformerConfig& c) {
  if (c.frequencies == SinusoidFrequencies::kByWidth) return;
  if (c.positions.kind != nn::PositionKind::kSinusoidal) {
    json.reject("position_frequencies", "by_width where positions are not sinusoidal");
  }
  if (c.width < 4 || c.width % 2 != 0) {
    json.reject("position_frequencies", "by_width where d_model is not even, or below 4");
  }
}

void read_positions(const JsonObject& json, nn::PositionOptions& p) {
  // The key of earlier versions, which only had sinusoidal positions.
  p.kind = json.word("position_layout", position_names(), std::optional(p.kind));
  p.kind = json.word("position_embedding_type", position_names(), std::optional(p.kind));
  p.max_relative_distance = json.integer("relative_distance", {1, 1 << 16}, p.max_relative_distance);
  p.buckets = json.integer("relative_attention_num_buckets", {4, 1 << 16}, p.buckets);
  p.bucket_max_distance =
      json.integer("relative_attention_max_distance", {2, 1 << 20}, p.bucket_max_distance);
  p.rotary_base = json.number("rope_theta", {1, 1e9}, p.rotary_base);
}

void write_positions(const nn::PositionOptions& p, nlohmann::ordered_json& json) {
  json["position_embedding_type"] = name_in(position_names(), p.kind);
  switch (p.kind) {
    case nn::PositionKind::kRelative:
      json["relative_distance"] = p.max_relative_distance;
      break;
    case nn::PositionKind::kBuckets:
      json["relative_attention_num_buckets"] = p.buckets;
      json["relative_attention_max_distance"] = p.bucket_max_distance;
      break;
    case nn::PositionKind::kRotary:
    case nn::PositionKind::kRotaryInterleaved:
      json["rope_theta"] = p.rotary_base;
      break;
    default:
      break;
  }
}

void check_shared_embeddings(const JsonObject& json, const TransformerConfig& c) {
  if (!c.share_embeddings || c.source_vocabulary == c.vocabulary) return;
  json.reject("decoder_vocab_size",
              fmt::format("the same as vocab_size ({}), since embeddings are shared", c.source_vocabulary));
}

/// Common to Marian and Heed's own type.
void describe_marian_like(ConfigFields& fields, TransformerConfig& c) {
  fields.integer("vocab_size", c.source_vocabulary, kVocabularySizes);
  fields.integer("decoder_vocab_size", c.vocabulary, kVocabularySizes, c.source_vocabulary);
  describe_transformer(fields, c, {});
  fields.boolean("share_encoder_decoder_embeddings", c.share_embeddings, true);
  fields.boolean("tie_word_embeddings", c.tied_output, true);
  const IntegerRange ids{0, c.vocabulary - 1};
  fields.integer("pad_token_id", c.padding_id, ids);
  describe_end_id(fields, c);
  fields.integer("decoder_start_token_id", c.start_id, ids, c.padding_id);
  const auto write = [&](nlohmann::ordered_json& json) {
    json["bos_token_id"] = json["forced_eos_token_id"] = c.end_id;
  };
  fields.custom(
      {"bos_token_id"}, [&](const JsonObject& json) { check_shared_embeddings(json, c); }, write);
  fields.neutral("add_final_layer_norm", {false});
  fields.neutral("force_bos_token_to_be_generated", {false});
  fields.neutral("normalize_embedding", {false});
  fields.neutral("static_position_embeddings", {true});
}

void describe_marian(ConfigFields& fields, TransformerConfig& c) {
  describe_marian_like(fields, c);
  fields.neutral("normalize_before", {false});
}

void describe_heed_transformer(ConfigFields& fields, TransformerConfig& c) {
  describe_marian_like(fields, c);
  fields.boolean("normalize_before", c.norm_first, false);
  fields.word("normalization", c.norm, norm_names(), nn::NormKind::kLayer);
  // Earlier versions know only the usual value, and not its key.
  const double usual = TransformerConfig().norm_epsilon;
  fields.custom(
      {"layer_norm_epsilon"},
      [&](const JsonObject& json) {
        c.norm_epsilon = json.number("layer_norm_epsilon", {0, 1}, usual);
      },
      [&](nlohmann::ordered_json& json) {
        if (c.norm_epsilon != usual) json["layer_norm_epsilon"] = c.norm_epsilon;
      });
  fields.custom(
      {"position_embedding_type", "position_layout", "relative_attention_max_distance",
       "relative_attention_num_buckets", "relative_distance", "rope_theta"},
      [&](const JsonObject& json) { read_positions(json, c.positions); },
      [&](nlohmann::ordered_json& json) { write_positions(c.positions, json); });
  fields.custom(
      {"position_frequencies"},
      [&](const JsonObject& json) {
        c.frequencies = json.word("position_frequencies", frequency_names(),
                                  std::optional(SinusoidFrequencies::kByWidth));
        check_frequencies(json, c);
      },
      [&](nlohmann::ordered_json& json) {
        if (c.frequencies == SinusoidFrequencies::kByWidth) return;
        json["position_frequencies"] = name_in(frequency_names(), c.frequencies);
      });
}

const std::vector<TransformerType>& transformer_types() {
  static const std::vector<TransformerType> table{
      {"marian", "MarianMTModel", describe_marian},
      {"heed_transformer", "HeedTransformer", describe_heed_transformer},
      t5_type(),
      m2m100_type(),
      bart_type(),
      mbart_type()};
  return table;
}

const TransformerType& type_named(std::string_view model_type) {
  for (const TransformerType& type : transformer_types()) {
    if (type.model_type == model_type) return type;
  }
  HEED_CHECK(false);
}

}  // namespace

void describe_end_id(ConfigFields& fields, TransformerConfig& c, std::optional<int32_t> fallback) {
  const auto read = [&, fallback](const JsonObject& json) {
    c.end_id = fallback.value_or(0);
    if (fallback && !json.has("eos_token_id")) return;
    const std::vector<int64_t> all = json.integers("eos_token_id", {0, c.vocabulary - 1});
    if (all.empty()) json.reject("eos_token_id", "at least one id");
    c.end_id = static_cast<int32_t>(all.front());
  };
  fields.custom({"eos_token_id"}, read,
                [&](nlohmann::ordered_json& json) { json["eos_token_id"] = c.end_id; });
}

void describe_transformer(ConfigFields& fields, TransformerConfig& c, const TransformerDefaults& defaults) {
  fields.integer("d_model", c.width, {defaults.least_width, 1 << 16});
  fields.integer("encoder_layers", c.encoder_layers, kLayerCounts);
  fields.integer("decoder_layers", c.decoder_layers, kLayerCounts);
  fields.integer("encoder_attention_heads", c.encoder_heads, kHeadCounts);
  fields.integer("decoder_attention_heads", c.decoder_heads, kHeadCounts);
  fields.integer("encoder_ffn_dim", c.encoder_inner_width, kInnerWidths);
  fields.integer("decoder_ffn_dim", c.decoder_inner_width, kInnerWidths);
  fields.word("activation_function", c.activation, activation_names(), defaults.activation);
  fields.integer("max_position_embeddings", c.max_length, {1, 1 << 20}, 1024);
  fields.boolean("scale_embedding", c.scale_embedding, defaults.scale_embedding);
  fields.number("dropout", c.dropout, kProbabilities, 0.1);
  fields.number("attention_dropout", c.attention_dropout, kProbabilities, defaults.attention_dropout);
  fields.number("activation_dropout", c.activation_dropout, kProbabilities, 0);
  fields.constant("is_encoder_decoder", true);
  require_whole_heads(fields, c, "d_model", {"encoder_attention_heads", "decoder_attention_heads"});
  // Training settings, other heads, and aliases.
  fields.ignore({"add_bias_logits", "bos_token_id", "classif_dropout", "classifier_dropout",
                 "decoder_layerdrop", "encoder_layerdrop", "extra_pos_embeddings", "init_std",
                 "num_hidden_layers"});
}

std::vector<std::string> unsupported_by_marian(const TransformerConfig& c) {
  std::vector<std::string> all;
  if (c.norm_first) all.emplace_back("pre-norm (normalize_before)");
  if (c.norm != nn::NormKind::kLayer) {
    all.push_back(fmt::format("{} norm (normalization)", name_in(norm_names(), c.norm)));
  }
  if (c.positions.kind != nn::PositionKind::kSinusoidal) {
    all.push_back(
        fmt::format("{} positions (position_embedding_type)", name_in(position_names(), c.positions.kind)));
  }
  if (c.frequencies != SinusoidFrequencies::kByWidth) {
    all.push_back(fmt::format("positions with other frequencies (position_frequencies: {})",
                              name_in(frequency_names(), c.frequencies)));
  }
  if (c.norm_epsilon != TransformerConfig().norm_epsilon) {
    all.push_back(fmt::format("norms with another epsilon (layer_norm_epsilon: {})", c.norm_epsilon));
  }
  return all;
}

bool is_post_norm_marian(const TransformerConfig& c) {
  return c.family == &marian_family() && !c.norm_first && c.norm == nn::NormKind::kLayer &&
         c.positions.kind == nn::PositionKind::kSinusoidal;
}

const TransformerFamily& marian_family() {
  static const TransformerFamily family{.model_type = "marian",
                                        .encoder = {.embedding = "model.encoder.embed_tokens.weight",
                                                    .positions = "model.encoder.",
                                                    .layer = "model.encoder.layers.",
                                                    .final_norm = "model.encoder.layer_norm"},
                                        .decoder = {.embedding = "model.decoder.embed_tokens.weight",
                                                    .positions = "model.decoder.",
                                                    .layer = "model.decoder.layers.",
                                                    .final_norm = "model.decoder.layer_norm"}};
  return family;
}

TransformerConfig read_transformer_config(const JsonObject& json) {
  return read_config(json, type_named(json.string("model_type")).describe, TransformerConfig());
}

nlohmann::ordered_json transformer_config_json(const TransformerConfig& config) {
  const bool own = config.family == &marian_family() && !unsupported_by_marian(config).empty();
  const TransformerType& type = type_named(own ? "heed_transformer" : config.family->model_type);
  TransformerConfig complete = config;
  if (config.source_vocabulary == 0) complete.source_vocabulary = config.vocabulary;
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["model_type"] = type.model_type;
  json["architectures"] = {type.model_class};
  write_config(complete, type.describe, json);
  return json;
}

namespace {

ModelPreset transformer_preset(PresetSize size) {
  ModelPreset preset;
  ModelSettings& s = preset.settings;
  switch (size) {
    case PresetSize::kTiny:
      s.width = 64;
      s.encoder_layers = s.decoder_layers = 2;
      s.heads = 4;
      s.inner_width = 128;
      preset.learning_rate = 3e-3;
      preset.warmup_steps = 100;
      break;
    case PresetSize::kSmall:
      break;
    case PresetSize::kBase:  // the paper's base model
      s.width = 512;
      s.encoder_layers = s.decoder_layers = 6;
      s.heads = 8;
      s.inner_width = 2048;
      preset.learning_rate = 7e-4;
      preset.warmup_steps = 4000;
      break;
  }
  return preset;
}

std::unique_ptr<Model> make_transformer(const ModelSettings& s) {
  TransformerConfig c;
  apply_settings(s, c);
  c.encoder_layers = s.encoder_layers;
  c.decoder_layers = s.decoder_layers;
  c.encoder_heads = c.decoder_heads = s.heads;
  c.encoder_inner_width = c.decoder_inner_width = s.inner_width;
  c.norm = s.norm;
  c.norm_first = s.norm_first;
  c.depth_scaled_init = s.depth_scaled_init;
  c.positions = s.positions;
  c.activation_dropout = s.activation_dropout;
  c.start_id = s.start_id;
  c.end_id = s.end_id;
  return std::make_unique<Transformer>(c);
}

std::unique_ptr<Model> read_transformer(const JsonObject& config) {
  return std::make_unique<Transformer>(read_transformer_config(config));
}

KnownKeys transformer_keys(const std::string& model_type) {
  return keys_of(type_named(model_type).describe, TransformerConfig());
}

JsonObject complete_transformer(const JsonObject& config, const WeightsOf& weights) {
  const TransformerType& type = type_named(config.string("model_type"));
  return type.complete == nullptr ? config : type.complete(config, weights);
}

std::vector<std::string> model_types() {
  std::vector<std::string> types;
  for (const TransformerType& type : transformer_types()) types.push_back(type.model_type);
  return types;
}

}  // namespace

nlohmann::ordered_json Transformer::config_json() const {
  return transformer_config_json(config_);
}

std::vector<std::string> Transformer::beyond_hugging_face() const {
  return config_.family == &marian_family() ? unsupported_by_marian(config_) : std::vector<std::string>();
}

Architecture transformer_architecture() {
  return {.name = "transformer",
          .description = "Transformer encoder-decoder (Vaswani et al., 2017)",
          .task = Task::kTranslation,
          .model_types = model_types(),
          .settings = {"width", "encoder_layers", "decoder_layers", "heads", "feed_forward_width",
                       "activation", "norm", "norm_first", "depth_scaled_init", "positions",
                       "max_relative_distance", "position_buckets", "bucket_max_distance", "rotary_base",
                       "max_length", "dropout", "attention_dropout", "activation_dropout"},
          .dropouts = {{"dropout", &ModelSettings::dropout, {"dropout"}},
                       {"attention_dropout", &ModelSettings::attention_dropout, {"attention_dropout"}},
                       {"activation_dropout", &ModelSettings::activation_dropout, {"activation_dropout"}}},
          .preset = transformer_preset,
          .make = make_transformer,
          .keys = transformer_keys,
          .read = read_transformer,
          .complete = complete_transformer};
}

}  // namespace heed::models
