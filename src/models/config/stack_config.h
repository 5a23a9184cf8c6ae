// What the configs of all stacks have in common: models::Transformer, models::DecoderOnly,
// models::EncoderOnly. The defaults are each config's own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/config/config_fields.h"
#include "models/config/rotary_config.h"
#include "models/directory/model_settings.h"
#include "ops/elementwise.h"

namespace heed::models {

struct StackConfig {
  int64_t vocabulary = 0;  ///< V; of the target, where there are two
  int64_t width = 0;       ///< D
  Activation activation = Activation::kRelu;
  int64_t max_length = 0;   ///< maximum number of positions
  bool norm_first = false;  ///< norms before the sub-layers; decoder-only models have no other
  double norm_epsilon = 1e-5;
  bool attention_bias = true, feed_forward_bias = true;
  bool tied_output = true;  ///< the output layer has the weight of the (target) embedding
  double dropout = 0, attention_dropout = 0, activation_dropout = 0;
  int32_t padding_id = 0;
};

/// Of a model with one stack.
struct SingleStackConfig : StackConfig {
  int layers = 0;
  int heads = 0;  ///< H
  int64_t inner_width = 0;

  /// Sliding layers, by number; empty: none. A position sees `window` positions there, itself included; in an
  /// encoder, `window` to either side.
  std::vector<bool> sliding = {};
  int64_t window = 0;
  Rotary rotary{}, sliding_rotary{};  ///< for rotary positions; of sliding layers

  double embedding_dropout = 0;
  double deviation = 0.02;  ///< standard deviation of initial matrices

  bool slides(int layer) const { return !sliding.empty() && sliding[static_cast<size_t>(layer)]; }
};

/// Takes over the settings of a recipe.
void apply_settings(const ModelSettings& settings, StackConfig& config);
void apply_settings(const ModelSettings& settings, SingleStackConfig& config);

// ---- For the descriptions of config.json -----------------------------------------------------------------

/// The keys of most families, or those that another family has for the same.
struct StackKeys {
  std::string width = "hidden_size", layers = "num_hidden_layers", heads = "num_attention_heads";
};

/// vocab_size, width, layers and heads.
void describe_sizes(ConfigFields& fields, SingleStackConfig& config, const StackKeys& keys);
/// Refuses a number of heads that does not divide the width.
void require_whole_heads(ConfigFields& fields, const StackConfig& config, const std::string& width_key,
                         const std::vector<std::string>& head_keys);

inline constexpr IntegerRange kVocabularySizes{1, 1 << 26}, kLayerCounts{1, 256}, kHeadCounts{1, 1024},
    kInnerWidths{1, 1 << 20};
inline constexpr NumberRange kProbabilities{0, 0.999};

}  // namespace heed::models
