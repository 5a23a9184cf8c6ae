// Test helper: small models with random weights, and readings without a tokenizer.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "inspect/reading/reading.h"
#include "models/config/decoder_only_config.h"
#include "models/stacks/decoder_only.h"
#include "models/stacks/rnn_seq2seq.h"
#include "models/stacks/transformer.h"
#include "models/test_models.h"
#include "text/tokenizers/language_tokenizer.h"

namespace heed {

/// A loaded model, whose tokens are shown as numbers.
struct TestInspected {
  explicit TestInspected(std::unique_ptr<models::Model> model, int32_t vocabulary)
      : tokenizer(id_tokenizer(vocabulary, -1)) {
    loaded.model = std::move(model);
    loaded.values = nn::ParameterArray(loaded.model->table(), DType::kFloat32);
    nn::initialize(loaded.model->table(), loaded.values, RandomKey::from_seed(5));
    // Random weights of this size make predictions depend on what is read.
    for (float& value : std::span(loaded.values.flat().data<float>(), loaded.values.flat().size()))
      value *= 1.5F;
    loaded.packed = std::make_unique<nn::PackedWeights>(loaded.model->table(), loaded.values);
  }
  InspectedModel view() const { return {.loaded = loaded, .tokenizer = &tokenizer}; }

  models::LoadedModel loaded;
  ModelTokenizer tokenizer;
};

inline TestInspected small_transformer(bool norm_first) {
  models::TransformerConfig config;
  config.vocabulary = 30;
  config.width = 16;
  config.encoder_layers = 2;
  config.decoder_layers = 2;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_inner_width = config.decoder_inner_width = 32;
  config.max_length = 20;
  config.padding_id = config.start_id = 29;
  config.activation = Activation::kGelu;  // differentiable everywhere
  config.norm_first = norm_first;
  return TestInspected(std::make_unique<models::Transformer>(config), 30);
}

inline TestInspected small_rnn() {
  models::RnnConfig config;
  config.vocabulary = config.source_vocabulary = 30;
  config.width = config.readout_width = 12;
  config.encoder_state_width = 8;
  config.decoder_state_width = 10;
  config.attention_width = 6;
  config.decoder_layers = 2;
  config.padding_id = config.start_id = 29;
  return TestInspected(std::make_unique<models::RnnSeq2Seq>(config), 30);
}

inline TestInspected small_language_model() {
  models::DecoderOnlyConfig config;
  config.family = &models::gpt2_family();
  config.vocabulary = 30;
  config.width = 16;
  config.heads = config.layers = 2;
  config.inner_width = 32;
  config.max_length = 20;
  return TestInspected(std::make_unique<models::DecoderOnly>(config), 30);
}

/// A translation of four source tokens, the last of them special, into three.
inline Reading small_reading() {
  Reading reading;
  reading.source_ids = {3, 7, 11, 0};
  reading.target_ids = {5, 8, 0};
  reading.decoder_ids = {29, 5, 8};
  reading.source_special = {false, false, false, true};
  reading.decoder_special = {true, false, false};
  reading.rows = {0, 1, 2};
  reading.first_target_row = 1;
  const auto name = [](int32_t id) { return "\u2581" + std::to_string(id); };
  for (const int32_t id : reading.source_ids) reading.encoder_tokens.push_back(name(id));
  for (const int32_t id : reading.decoder_ids) reading.decoder_tokens.push_back(name(id));
  for (const int32_t id : reading.target_ids) reading.target_tokens.push_back(name(id));
  return reading;
}

/// A text of ids whose last one is special, and what a model is to predict; tokens are named by their ids.
inline Reading reading_of_ids(const models::Model& model, const std::vector<int32_t>& ids,
                              const std::vector<int32_t>& target) {
  Reading reading{.target_ids = target, .target_tokens = std::vector<std::string>(target.size(), "t")};
  std::vector<bool> special(ids.size(), false);
  special.back() = true;
  if (model.task() == models::Task::kLanguageModel) {
    reading.decoder_ids = ids;
    reading.decoder_special = special;
  } else {
    reading.source_ids = ids;
    reading.source_special = special;
  }
  if (model.task() == models::Task::kTranslation) {
    reading.decoder_ids = {dynamic_cast<const models::Seq2Seq&>(model).start_id()};
    reading.decoder_special = {true};
  }
  reading.first_target_row = static_cast<int32_t>(reading.decoder_ids.size());
  for (size_t n = 0; n < target.size(); ++n) {
    reading.rows.push_back(std::max(0, reading.first_target_row - 1) + static_cast<int32_t>(n));
  }
  if (reading.has_decoder()) {
    reading.decoder_ids.insert(reading.decoder_ids.end(), target.begin(), target.end() - 1);
    reading.decoder_special.resize(reading.decoder_ids.size(), false);
  }
  reading.encoder_tokens.assign(reading.source_ids.size(), "s");
  reading.decoder_tokens.assign(reading.decoder_ids.size(), "d");
  return reading;
}

}  // namespace heed
