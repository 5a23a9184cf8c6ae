// What a recipe says of a model, whichever architecture it is for: the one list of all sizes and choices,
// from which each architecture takes those it knows (architecture.h).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "nn/annotation_attention.h"
#include "nn/norm.h"
#include "nn/positions.h"
#include "ops/elementwise.h"
#include "ops/recurrent.h"

namespace heed::models {

/// The words that a setting may take, and what they mean.
template <typename Value>
using Words = std::vector<std::pair<std::string, Value>>;

/// The first word for a value, which must have one.
template <typename Value>
std::string name_in(const Words<Value>& words, Value value) {
  for (const auto& [name, each] : words) {
    if (each == value) return name;
  }
  HEED_CHECK(false);
}

/// From `least` to `most`, both included.
struct Range {
  double least = 0, most = 1e18;
};

/// "relu" and so on, as in config files.
const Words<Activation>& activation_names();
/// "sinusoidal", "learned", "none", "relative", "buckets", "rotary" and so on.
const Words<nn::PositionKind>& position_names();
/// "layer", "batch" and "rms".
const Words<nn::NormKind>& norm_names();
/// "gru" and "lstm".
const Words<RecurrentCell>& recurrent_cell_names();
/// "additive", "dot" and "general".
const Words<nn::AttentionScore>& attention_score_names();

/// A dropout of a recipe that trains a model further: what the model's config.json says.
constexpr double kAsTheModelSays = -1;

/// The defaults are those of a small Transformer; each architecture's presets set what differs.
struct ModelSettings {
  // -- Chosen by a recipe, under these names in its section [model].
  int64_t width = 256;
  int encoder_layers = 3, decoder_layers = 3;  ///< of what has an encoder and a decoder
  int layers = 4;                              ///< of what has one stack
  int heads = 8;
  int key_value_heads = 0;     ///< that the heads share in groups; 0: as many as heads
  int64_t inner_width = 1024;  ///< of the feed-forward network
  Activation activation = Activation::kRelu;
  nn::NormKind norm = nn::NormKind::kLayer;
  bool norm_first = false;
  bool depth_scaled_init = false;  ///< of a Transformer: layer l begins with weights divided by sqrt(l)
  nn::PositionOptions positions;
  int64_t longest = 512;  ///< positions, and so the longest sequence
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
  // Of recurrent networks.
  RecurrentCell cell = RecurrentCell::kGru;
  nn::AttentionScore score = nn::AttentionScore::kAdditive;
  int64_t encoder_state_width = 256;  ///< in each of the two directions
  int64_t decoder_state_width = 512;
  int64_t attention_width = 256;  ///< of the additive score

  // -- Known from the text and its tokenizer, filled in by the task; -1 where there is no such token.
  int64_t vocabulary = 0;
  int32_t padding_id = -1;
  int32_t start_id = -1;            ///< what a target or a text begins with
  int32_t end_id = -1;              ///< what it ends with
  std::vector<std::string> labels;  ///< of the classes, in the order of their numbers
};

/// visit(name, field, range) for numbers, visit(name, field) for switches, visit(name, field, words) for
/// fields that take one of some words. `Settings` is ModelSettings or const ModelSettings.
template <typename Settings, typename Visit>
void visit_model_settings(Settings& s, Visit&& visit) {
  const Range probability{0, 0.99}, layers{1, 256};
  visit("width", s.width, Range{1, 65536});
  visit("encoder_layers", s.encoder_layers, layers);
  visit("decoder_layers", s.decoder_layers, layers);
  visit("layers", s.layers, layers);
  visit("heads", s.heads, Range{1, 1024});
  visit("key_value_heads", s.key_value_heads, Range{0, 1024});
  visit("inner_width", s.inner_width, Range{1, 1e6});
  visit("activation", s.activation, activation_names());
  visit("norm", s.norm, norm_names());
  visit("norm_first", s.norm_first);
  visit("depth_scaled_init", s.depth_scaled_init);
  visit("positions", s.positions.kind, position_names());
  visit("relative_distance", s.positions.relative_distance, Range{1, 65536});
  visit("position_buckets", s.positions.buckets, Range{4, 65536});
  visit("bucket_reach", s.positions.bucket_reach, Range{2, 1e6});
  visit("rotary_base", s.positions.rotary_base, Range{1, 1e9});
  visit("longest", s.longest, Range{2, 1e6});
  visit("dropout", s.dropout, probability);
  visit("attention_dropout", s.attention_dropout, probability);
  visit("activation_dropout", s.activation_dropout, probability);
  visit("cell", s.cell, recurrent_cell_names());
  visit("score", s.score, attention_score_names());
  visit("encoder_state_width", s.encoder_state_width, Range{1, 65536});
  visit("decoder_state_width", s.decoder_state_width, Range{1, 65536});
  visit("attention_width", s.attention_width, Range{1, 65536});
}

/// How large to begin: --preset.
enum class PresetSize { kTiny, kSmall, kBase };

/// A model of some size, and the rates at which it learns well. What depends on the text (batches, tokenizer,
/// how long) is the task's part of a preset.
struct ModelPreset {
  ModelSettings settings;
  double rate = 1.5e-3;   ///< the highest learning rate
  int64_t warmup = 2000;  ///< steps up to it
  double clip = 0;        ///< largest norm of all gradients; 0: none
};

}  // namespace heed::models
