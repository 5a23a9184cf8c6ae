#include "models/transformer_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "models/known_keys.h"
#include "models/model_settings.h"
#include "models/transformer_families.h"

namespace heed::models {

namespace {

void read_positions(const JsonObject& json, TransformerConfig& c) {
  nn::PositionOptions& p = c.positions;
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

const KnownKeys& transformer_keys(bool marian) {
  static const auto make = [](bool of_marian) {
    KnownKeys keys{.read = {"activation_dropout",      "activation_function",
                            "attention_dropout",       "d_model",
                            "decoder_attention_heads", "decoder_ffn_dim",
                            "decoder_layers",          "decoder_start_token_id",
                            "decoder_vocab_size",      "dropout",
                            "encoder_attention_heads", "encoder_ffn_dim",
                            "encoder_layers",          "eos_token_id",
                            "max_position_embeddings", "pad_token_id",
                            "scale_embedding",         "share_encoder_decoder_embeddings",
                            "tie_word_embeddings",     "vocab_size"},
                   // Training settings, other heads, and aliases.
                   .ignored = {"add_bias_logits", "bos_token_id", "classif_dropout", "classifier_dropout",
                               "decoder_layerdrop", "encoder_layerdrop", "extra_pos_embeddings", "init_std",
                               "num_hidden_layers"},
                   .neutral = {{"add_final_layer_norm", {false}},
                               {"force_bos_token_to_be_generated", {false}},
                               {"is_encoder_decoder", {true}},
                               {"normalize_embedding", {false}},
                               {"static_position_embeddings", {true}}}};
    if (of_marian) {
      keys.neutral.push_back({"normalize_before", {false}});
    } else {
      for (const char* key : {"normalization", "normalize_before", "position_embedding_type",
                              "position_layout", "relative_attention_max_distance",
                              "relative_attention_num_buckets", "relative_distance", "rope_theta"}) {
        keys.read.emplace_back(key);
      }
    }
    return with_common_keys(std::move(keys));
  };
  static const KnownKeys of_marian = make(true), of_heed = make(false);
  return marian ? of_marian : of_heed;
}

}  // namespace

int32_t read_end_id(const JsonObject& json, int64_t vocabulary, std::optional<int32_t> fallback) {
  if (fallback && !json.has("eos_token_id")) return *fallback;
  const std::vector<int64_t> all = json.integers("eos_token_id", {0, vocabulary - 1});
  if (all.empty()) json.reject("eos_token_id", "at least one id");
  return static_cast<int32_t>(all.front());
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
  return all;
}

bool is_marian(const TransformerConfig& c) {
  return c.family == &marian_family() && unsupported_by_marian(c).empty();
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
                                                    .final_norm = "model.decoder.layer_norm"},
                                        .config_json = transformer_config_json};
  return family;
}

TransformerConfig read_transformer_config(const JsonObject& json) {
  const bool marian = json.string("model_type") == "marian";
  require_known_keys(json, transformer_keys(marian));
  const IntegerRange layers{1, 256}, heads{1, 1024}, width{1, 1 << 16};
  TransformerConfig c;
  const IntegerRange vocabulary{1, 1 << 26};
  c.source_vocabulary = json.integer("vocab_size", vocabulary);
  c.vocabulary = json.integer("decoder_vocab_size", vocabulary, c.source_vocabulary);
  c.share_embeddings = json.boolean("share_encoder_decoder_embeddings", true);
  c.tied_output = json.boolean("tie_word_embeddings", true);
  c.width = json.integer("d_model", width);
  c.encoder_layers = static_cast<int>(json.integer("encoder_layers", layers));
  c.decoder_layers = static_cast<int>(json.integer("decoder_layers", layers));
  c.encoder_heads = static_cast<int>(json.integer("encoder_attention_heads", heads));
  c.decoder_heads = static_cast<int>(json.integer("decoder_attention_heads", heads));
  c.encoder_inner_width = json.integer("encoder_ffn_dim", {1, 1 << 20});
  c.decoder_inner_width = json.integer("decoder_ffn_dim", {1, 1 << 20});
  c.activation = json.word("activation_function", activation_names(), std::optional(Activation::kGelu));
  c.max_length = json.integer("max_position_embeddings", {1, 1 << 20}, 1024);
  c.scale_embedding = json.boolean("scale_embedding", false);
  const NumberRange probability{0, 0.999};
  c.dropout = json.number("dropout", probability, 0.1);
  c.attention_dropout = json.number("attention_dropout", probability, 0);
  c.activation_dropout = json.number("activation_dropout", probability, 0);
  const IntegerRange ids{0, c.vocabulary - 1};
  c.padding_id = static_cast<int32_t>(json.integer("pad_token_id", ids));
  c.end_id = read_end_id(json, c.vocabulary);
  c.start_id = static_cast<int32_t>(json.integer("decoder_start_token_id", ids, c.padding_id));
  if (c.width % c.encoder_heads != 0) {
    json.reject("encoder_attention_heads", fmt::format("a number that divides d_model ({})", c.width));
  }
  if (c.width % c.decoder_heads != 0) {
    json.reject("decoder_attention_heads", fmt::format("a number that divides d_model ({})", c.width));
  }
  if (c.share_embeddings && c.source_vocabulary != c.vocabulary) {
    json.reject("decoder_vocab_size",
                fmt::format("the same as vocab_size ({}), since embeddings are shared", c.source_vocabulary));
  }
  if (!marian) {
    c.norm_first = json.boolean("normalize_before", false);
    c.norm = json.word("normalization", norm_names(), std::optional(c.norm));
    read_positions(json, c);
  }
  return c;
}

void write_sizes(const TransformerConfig& c, nlohmann::ordered_json& json) {
  json["d_model"] = c.width;
  json["encoder_layers"] = c.encoder_layers;
  json["decoder_layers"] = c.decoder_layers;
  json["encoder_attention_heads"] = c.encoder_heads;
  json["decoder_attention_heads"] = c.decoder_heads;
  json["encoder_ffn_dim"] = c.encoder_inner_width;
  json["decoder_ffn_dim"] = c.decoder_inner_width;
  json["activation_function"] = name_in(activation_names(), c.activation);
  json["max_position_embeddings"] = c.max_length;
  json["scale_embedding"] = c.scale_embedding;
  json["dropout"] = c.dropout;
  json["attention_dropout"] = c.attention_dropout;
  json["activation_dropout"] = c.activation_dropout;
}

nlohmann::ordered_json transformer_config_json(const TransformerConfig& c) {
  const bool marian = unsupported_by_marian(c).empty();
  nlohmann::ordered_json json;
  json["model_type"] = marian ? "marian" : "heed_transformer";
  json["architectures"] = {marian ? "MarianMTModel" : "HeedTransformer"};
  json["vocab_size"] = c.source_vocabulary == 0 ? c.vocabulary : c.source_vocabulary;
  json["decoder_vocab_size"] = c.vocabulary;
  write_sizes(c, json);
  json["share_encoder_decoder_embeddings"] = c.share_embeddings;
  json["tie_word_embeddings"] = c.tied_output;
  json["is_encoder_decoder"] = true;
  json["pad_token_id"] = c.padding_id;
  json["bos_token_id"] = c.end_id;
  json["eos_token_id"] = c.end_id;
  json["decoder_start_token_id"] = c.start_id;
  json["forced_eos_token_id"] = c.end_id;
  if (!marian) {
    json["normalize_before"] = c.norm_first;
    json["normalization"] = name_in(norm_names(), c.norm);
    write_positions(c.positions, json);
  }
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
  c.vocabulary = s.vocabulary;
  c.width = s.width;
  c.encoder_layers = s.encoder_layers;
  c.decoder_layers = s.decoder_layers;
  c.encoder_heads = c.decoder_heads = s.heads;
  c.encoder_inner_width = c.decoder_inner_width = s.inner_width;
  c.activation = s.activation;
  c.norm = s.norm;
  c.norm_first = s.norm_first;
  c.depth_scaled_init = s.depth_scaled_init;
  c.positions = s.positions;
  c.max_length = s.max_length;
  c.dropout = s.dropout;
  c.attention_dropout = s.attention_dropout;
  c.activation_dropout = s.activation_dropout;
  c.padding_id = s.padding_id;
  c.start_id = s.start_id;
  c.end_id = s.end_id;
  return std::make_unique<Transformer>(c);
}

/// The reader of each model_type.
using ReadConfig = TransformerConfig (*)(const JsonObject& config);
const std::vector<std::pair<std::string, ReadConfig>>& readers() {
  static const std::vector<std::pair<std::string, ReadConfig>> table{
      {"marian", read_transformer_config},
      {"heed_transformer", read_transformer_config},
      {"t5", read_t5_config},
      {"m2m_100", read_m2m100_config},
      {"bart", read_bart_config},
      {"mbart", read_mbart_config}};
  return table;
}

std::unique_ptr<Model> read_transformer(const JsonObject& config) {
  const std::string type = config.string("model_type");
  for (const auto& [model_type, read] : readers()) {
    if (model_type == type) return std::make_unique<Transformer>(read(config));
  }
  HEED_CHECK(false);
}

std::vector<std::string> model_types() {
  std::vector<std::string> types;
  for (const auto& [model_type, read] : readers()) types.push_back(model_type);
  return types;
}

}  // namespace

nlohmann::ordered_json Transformer::config_json() const {
  return config_.family->config_json(config_);
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
          .read = read_transformer};
}

}  // namespace heed::models
