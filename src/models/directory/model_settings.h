// The model settings of a recipe for all architectures. Each architecture uses a subset (architecture.h).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "nn/norms/norm.h"
#include "nn/positions/positions.h"
#include "nn/recurrent/recurrent_attention.h"
#include "ops/elementwise.h"
#include "ops/recurrent/recurrent.h"

namespace heed::models {

/// The words that a setting may take, with their values.
template <typename Value>
using Words = std::vector<std::pair<std::string, Value>>;

/// The first word for a value; there must be one.
template <typename Value>
std::string name_in(const Words<Value>& words, Value value) {
  for (const auto& [name, each] : words) {
    if (each == value) return name;
  }
  HEED_CHECK(false);
}

/// From `least` to `most`, inclusive.
struct Limits {
  double least = 0, most = 1e18;
};

/// "relu" etc., as in config files.
const Words<Activation>& activation_names();
/// "sinusoidal", "learned", "none", "relative", "buckets", "rotary" etc.
const Words<nn::PositionKind>& position_names();
/// "layer", "batch" and "rms".
const Words<nn::NormKind>& norm_names();
/// "gru" and "lstm".
const Words<RecurrentCell>& recurrent_cell_names();
/// "additive", "dot" and "general".
const Words<nn::AttentionScore>& attention_score_names();

/// A dropout of a fine-tuning recipe that is not set: keep the value in the model's config.json.
constexpr double kKeepModelValue = -1;

/// The defaults are those of a small Transformer; the presets of each architecture override them.
struct ModelSettings {
  // -- Set by a recipe in its section [model].
  int64_t width = 256;
  int encoder_layers = 3, decoder_layers = 3;  ///< encoder-decoder models
  int layers = 4;                              ///< models with one stack
  int heads = 8;
  int key_value_heads = 0;     ///< grouped-query attention; 0: as many as heads
  int64_t inner_width = 1024;  ///< of the feed-forward network
  Activation activation = Activation::kRelu;
  nn::NormKind norm = nn::NormKind::kLayer;
  bool norm_first = false;
  bool depth_scaled_init = false;  ///< Transformer: scale the initial weights of layer l by 1 / sqrt(l)
  nn::PositionOptions positions;
  int64_t max_length = 512;  ///< maximum sequence length
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
  // Recurrent networks.
  RecurrentCell cell = RecurrentCell::kGru;
  nn::AttentionScore score = nn::AttentionScore::kAdditive;
  int64_t encoder_state_width = 256;  ///< per direction
  int64_t decoder_state_width = 512;
  int64_t attention_width = 256;  ///< of additive attention

  // -- Set by the task from the data and the tokenizer; -1: no such token.
  int64_t vocabulary = 0;
  int32_t padding_id = -1;
  int32_t start_id = -1;            ///< start token of a target or text
  int32_t end_id = -1;              ///< end token
  std::vector<std::string> labels;  ///< classes of a classifier, by index
};

/// Calls visit(name, field, range) for numbers, visit(name, field) for booleans, visit(name, field, words)
/// for enumerations. `Settings` is ModelSettings or const ModelSettings.
template <typename Settings, typename Visit>
void visit_model_settings(Settings& s, Visit&& visit) {
  const Limits probability{0, 0.99}, layers{1, 256};
  visit("width", s.width, Limits{1, 65536});
  visit("encoder_layers", s.encoder_layers, layers);
  visit("decoder_layers", s.decoder_layers, layers);
  visit("layers", s.layers, layers);
  visit("heads", s.heads, Limits{1, 1024});
  visit("key_value_heads", s.key_value_heads, Limits{0, 1024});
  visit("feed_forward_width", s.inner_width, Limits{1, 1e6});
  visit("activation", s.activation, activation_names());
  visit("norm", s.norm, norm_names());
  visit("norm_first", s.norm_first);
  visit("depth_scaled_init", s.depth_scaled_init);
  visit("positions", s.positions.kind, position_names());
  visit("max_relative_distance", s.positions.max_relative_distance, Limits{1, 65536});
  visit("position_buckets", s.positions.buckets, Limits{4, 65536});
  visit("bucket_max_distance", s.positions.bucket_max_distance, Limits{2, 1e6});
  visit("rotary_base", s.positions.rotary_base, Limits{1, 1e9});
  visit("max_length", s.max_length, Limits{2, 1e6});
  visit("dropout", s.dropout, probability);
  visit("attention_dropout", s.attention_dropout, probability);
  visit("activation_dropout", s.activation_dropout, probability);
  visit("cell", s.cell, recurrent_cell_names());
  visit("attention_score", s.score, attention_score_names());
  visit("encoder_state_width", s.encoder_state_width, Limits{1, 65536});
  visit("decoder_state_width", s.decoder_state_width, Limits{1, 65536});
  visit("attention_width", s.attention_width, Limits{1, 65536});
}

/// The size of a preset (--preset).
enum class PresetSize { kTiny, kSmall, kBase };

/// Model settings and matching optimization settings. The task's part of a preset has the settings that
/// depend on the data (batches, tokenizer, duration).
struct ModelPreset {
  ModelSettings settings;
  double learning_rate = 1.5e-3;  ///< the peak
  int64_t warmup_steps = 2000;
  double clip_norm = 0;  ///< of the global gradient norm; 0: off
};

}  // namespace heed::models
