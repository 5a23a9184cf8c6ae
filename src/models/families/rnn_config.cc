#include "models/families/rnn_config.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "models/config/config_fields.h"

namespace heed::models {
namespace {

constexpr const char* kModelType = "heed_rnn";

void check_sizes(const JsonObject& json, const RnnConfig& c) {
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
}

void describe_rnn(ConfigFields& fields, RnnConfig& c) {
  const IntegerRange layers{1, 256}, width{1, 1 << 16}, vocabulary{1, 1 << 26};
  fields.integer("vocab_size", c.source_vocabulary, vocabulary);
  fields.integer("decoder_vocab_size", c.vocabulary, vocabulary, c.source_vocabulary);
  fields.integer("embedding_size", c.width, width);
  fields.word("cell_type", c.cell, recurrent_cell_names());
  fields.integer("encoder_layers", c.encoder_layers, layers);
  fields.integer("decoder_layers", c.decoder_layers, layers);
  fields.integer("encoder_hidden_size", c.encoder_state_width, width);
  fields.integer("decoder_hidden_size", c.decoder_state_width, width);
  fields.word("attention_score", c.score, attention_score_names());
  fields.integer("attention_size", c.attention_width, width, RnnConfig().attention_width);
  fields.integer("readout_size", c.readout_width, {0, width.maximum}, 0);
  fields.boolean("share_encoder_decoder_embeddings", c.share_embeddings, false);
  fields.boolean("tie_word_embeddings", c.tie_output, false);
  fields.boolean("scale_embedding", c.scale_embedding, false);
  fields.number("dropout", c.dropout, {0, 0.999}, 0);
  fields.integer("max_sequence_length", c.max_length, {1, 1 << 20}, RnnConfig().max_length);
  fields.constant("is_encoder_decoder", true);
  const IntegerRange ids{0, c.vocabulary - 1};
  fields.integer("pad_token_id", c.padding_id, ids);
  fields.integer("eos_token_id", c.end_id, ids);
  fields.integer("decoder_start_token_id", c.start_id, ids, c.padding_id);
  fields.derive([&](const JsonObject& json) { check_sizes(json, c); });
}

}  // namespace

RnnConfig read_rnn_config(const JsonObject& json) {
  return read_config(json, describe_rnn, RnnConfig());
}

nlohmann::ordered_json rnn_config_json(const RnnConfig& config) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["model_type"] = kModelType;
  json["architectures"] = {"HeedRnnSeq2Seq"};
  write_config(config, describe_rnn, json);
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
      .keys = [](const std::string&) { return keys_of(describe_rnn, RnnConfig()); },
      .read = read_rnn};
}

}  // namespace heed::models
