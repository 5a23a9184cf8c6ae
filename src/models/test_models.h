// Test helper: untrained models, and sentences for them.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>

#include "base/rng.h"
#include "base/sequences.h"
#include "models/config/decoder_only_config.h"
#include "models/directory/loaded_model.h"
#include "models/encoder.h"
#include "models/stacks/decoder_only.h"
#include "models/test_untrained_models.h"
#include "nn/context.h"
#include "nn/module_test.h"
#include "random_tensor.h"

namespace heed::models {

/// A model, weights for it, and a context for inference with them.
template <typename ModelType>
struct ModelWithWeights {
  template <typename Config>
  explicit ModelWithWeights(const Config& config) : model(config), values(model.table(), DType::kFloat32) {}
  /// With random weights.
  template <typename Config>
  ModelWithWeights(const Config& config, uint64_t seed) : ModelWithWeights(config) {
    values.flat() = TensorSource(seed).normal({model.table().elements()}, DType::kFloat32, 0.5);
  }
  nn::Context context() const {
    std::call_once(once, [&] { packed = std::make_unique<nn::PackedWeights>(model.table(), values); });
    return packed->context();
  }

  ModelType model;
  nn::ParameterArray values;
  mutable std::once_flag once;  // of the first context, with which the weights are packed
  mutable std::unique_ptr<nn::PackedWeights> packed;
};

/// A small language model of the Llama family.
inline DecoderOnly small_llama(int64_t vocabulary) {
  DecoderOnlyConfig config;
  config.family = &llama_family();
  config.vocabulary = vocabulary;
  config.width = 16;
  config.layers = 1;
  config.heads = 2;
  config.inner_width = 24;
  config.max_length = 40;
  config.activation = Activation::kSwish;
  config.attention_bias = config.feed_forward_bias = false;
  return DecoderOnly(config);
}

/// `count` random sequences of 1 to `max_length` ids below `vocabulary`.
inline Sequences random_sequences(int count, int64_t max_length, int64_t words, uint64_t seed) {
  TensorSource source(seed);
  Sequences sequences;
  for (int b = 0; b < count; ++b) {
    sequences.append(source.ids({source.number(1, max_length)}, words).to_vector<int32_t>());
  }
  return sequences;
}

inline Sequences one_of(const Sequences& sequences, int number) {
  Sequences one;
  one.append(sequences[number]);
  return one;
}

inline EncoderInput input_of(const std::vector<std::vector<int32_t>>& texts) {
  EncoderInput input;
  for (const auto& text : texts) input.text.append(text);
  return input;
}

/// Random weights.
inline nn::ParameterArray some_values(const nn::ParameterTable& table, DType dtype = DType::kFloat32) {
  return nn::random_parameters(table, dtype, 4, 0.4);
}

}  // namespace heed::models
