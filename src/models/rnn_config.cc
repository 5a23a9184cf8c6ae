#include "models/rnn_config.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "models/known_keys.h"

namespace heed::models {
namespace {

constexpr const char* kModelType = "heed_rnn";

const KnownKeys& rnn_keys() {
  static const KnownKeys keys =
      with_common_keys({.read = {"attention_score", "attention_size", "cell_type", "decoder_hidden_size",
                                 "decoder_layers", "decoder_start_token_id", "decoder_vocab_size", "dropout",
                                 "embedding_size", "encoder_hidden_size", "encoder_layers", "eos_token_id",
                                 "max_sequence_length", "pad_token_id", "readout_size", "scale_embedding",
                                 "share_encoder_decoder_embeddings", "tie_word_embeddings", "vocab_size"},
                        .ignored = {},
                        .neutral = {{"is_encoder_decoder", {true}}}});
  return keys;
}

}  // namespace

RnnConfig read_rnn_config(const JsonObject& json) {
  require_known_keys(json, rnn_keys());
  const IntegerRange layers{1, 256}, width{1, 1 << 16}, vocabulary{1, 1 << 26};
  RnnConfig c;
  c.source_vocabulary = json.integer("vocab_size", vocabulary);
  c.vocabulary = json.integer("decoder_vocab_size", vocabulary, c.source_vocabulary);
  c.width = json.integer("embedding_size", width);
  c.cell = json.word("cell_type", recurrent_cell_names());
  c.encoder_layers = static_cast<int>(json.integer("encoder_layers", layers));
  c.decoder_layers = static_cast<int>(json.integer("decoder_layers", layers));
  c.encoder_state_width = json.integer("encoder_hidden_size", width);
  c.decoder_state_width = json.integer("decoder_hidden_size", width);
  c.score = json.word("attention_score", attention_score_names());
  c.attention_width = json.integer("attention_size", width, c.attention_width);
  c.readout_width = json.integer("readout_size", {0, width.maximum}, 0);
  c.share_embeddings = json.boolean("share_encoder_decoder_embeddings", false);
  c.tie_output = json.boolean("tie_word_embeddings", false);
  c.scale_embedding = json.boolean("scale_embedding", false);
  c.dropout = json.number("dropout", {0, 0.999}, 0);
  c.max_length = json.integer("max_sequence_length", {1, 1 << 20}, c.max_length);
  const IntegerRange ids{0, c.vocabulary - 1};
  c.padding_id = static_cast<int32_t>(json.integer("pad_token_id", ids));
  c.end_id = static_cast<int32_t>(json.integer("eos_token_id", ids));
  c.start_id = static_cast<int32_t>(json.integer("decoder_start_token_id", ids, c.padding_id));
  if (c.share_embeddings && c.source_vocabulary != c.vocabulary) {
    json.reject("decoder_vocab_size",
                fmt::format("the same as vocab_size ({}), since embeddings are shared", c.source_vocabulary));
  }
  if (c.tie_output && c.readout_width != c.width) {
    json.reject("readout_size",
                fmt::format("the same as embedding_size ({}), since embeddings are tied", c.width));
  }
  if (c.score == nn::AttentionScore::kDot && c.decoder_state_width != 2 * c.encoder_state_width) {
    json.reject("decoder_hidden_size",
                fmt::format("twice encoder_hidden_size ({}), since the attention score is a dot product",
                            c.encoder_state_width));
  }
  return c;
}

nlohmann::ordered_json rnn_config_json(const RnnConfig& c) {
  nlohmann::ordered_json json;
  json["model_type"] = kModelType;
  json["architectures"] = {"HeedRnnSeq2Seq"};
  json["vocab_size"] = c.source_vocabulary;
  json["decoder_vocab_size"] = c.vocabulary;
  json["embedding_size"] = c.width;
  json["cell_type"] = name_in(recurrent_cell_names(), c.cell);
  json["encoder_layers"] = c.encoder_layers;
  json["decoder_layers"] = c.decoder_layers;
  json["encoder_hidden_size"] = c.encoder_state_width;
  json["decoder_hidden_size"] = c.decoder_state_width;
  json["attention_score"] = name_in(attention_score_names(), c.score);
  json["attention_size"] = c.attention_width;
  json["readout_size"] = c.readout_width;
  json["share_encoder_decoder_embeddings"] = c.share_embeddings;
  json["tie_word_embeddings"] = c.tie_output;
  json["scale_embedding"] = c.scale_embedding;
  json["dropout"] = c.dropout;
  json["max_sequence_length"] = c.max_length;
  json["is_encoder_decoder"] = true;
  json["pad_token_id"] = c.padding_id;
  json["eos_token_id"] = c.end_id;
  json["decoder_start_token_id"] = c.start_id;
  return json;
}

nlohmann::ordered_json RnnSeq2Seq::config_json() const {
  return rnn_config_json(config_);
}

namespace {

ModelPreset rnn_preset(PresetSize size) {
  ModelPreset preset;
  ModelSettings& s = preset.settings;
  s.encoder_layers = s.decoder_layers = 1;
  preset.learning_rate = 1e-3;
  preset.warmup_steps = 500;
  preset.clip_norm = 1;  // gradients through many steps may explode (Pascanu et al., 2013)
  switch (size) {
    case PresetSize::kTiny:
      s.width = s.encoder_state_width = s.attention_width = 64;
      s.decoder_state_width = 128;
      preset.learning_rate = 3e-3;
      preset.warmup_steps = 100;
      return preset;
    case PresetSize::kSmall:
      return preset;
    case PresetSize::kBase:  // as Bahdanau et al., except for the embedding width
      s.width = 512;
      s.encoder_state_width = s.attention_width = 1000;
      s.decoder_state_width = 2000;
      preset.learning_rate = 5e-4;
      preset.warmup_steps = 2000;
      return preset;
  }
  HEED_CHECK(false);
}

std::unique_ptr<Model> make_rnn(const ModelSettings& s) {
  RnnConfig c;
  c.vocabulary = c.source_vocabulary = s.vocabulary;
  c.width = c.readout_width = s.width;
  c.cell = s.cell;
  c.encoder_layers = s.encoder_layers;
  c.decoder_layers = s.decoder_layers;
  c.encoder_state_width = s.encoder_state_width;
  c.decoder_state_width = s.decoder_state_width;
  c.score = s.score;
  c.attention_width = s.attention_width;
  c.dropout = s.dropout;
  c.max_length = s.max_length;
  c.padding_id = s.padding_id;
  c.start_id = s.start_id;
  c.end_id = s.end_id;
  return std::make_unique<RnnSeq2Seq>(c);
}

std::unique_ptr<Model> read_rnn(const JsonObject& config) {
  return std::make_unique<RnnSeq2Seq>(read_rnn_config(config));
}

}  // namespace

Architecture rnn_architecture() {
  return {
      .name = "rnn",
      .description = "recurrent networks with attention (Bahdanau et al., 2015)",
      .task = Task::kTranslation,
      .model_types = {kModelType},
      .settings = {"width", "encoder_layers", "decoder_layers", "cell", "attention_score",
                   "encoder_state_width", "decoder_state_width", "attention_width", "max_length", "dropout"},
      .dropouts = {{"dropout", &ModelSettings::dropout, {"dropout"}}},
      .preset = rnn_preset,
      .make = make_rnn,
      .read = read_rnn};
}

}  // namespace heed::models
