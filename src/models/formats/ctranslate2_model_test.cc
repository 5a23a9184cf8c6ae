// Models of every supported family, written as CTranslate2 stores them and read again.
#include "models/formats/ctranslate2_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/text/json_file.h"
#include "compare.h"
#include "models/architecture.h"
#include "models/directory/loaded_model.h"
#include "models/directory/model_weights.h"
#include "models/formats/ctranslate2_export.h"
#include "models/test_models.h"
#include "nn/positions/sinusoids.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::models {
namespace {

using Json = nlohmann::json;

/// A config of an encoder-decoder family but T5, with different sizes of the two stacks.
Json seq2seq_config(const std::string& type, const Json& more = Json::object()) {
  Json json{{"model_type", type}, {"vocab_size", 29}, {"pad_token_id", 1}, {"eos_token_id", 2}};
  json.update(small_bart_like_sizes());
  json.update(more);
  return json;
}

Json t5_config(const Json& more = Json::object()) {
  Json json{{"model_type", "t5"},
            {"vocab_size", 29},
            {"d_model", 12},
            {"d_kv", 5},
            {"d_ff", 10},
            {"num_layers", 2},
            {"num_heads", 2},
            {"num_decoder_layers", 3},
            {"pad_token_id", 0},
            {"decoder_start_token_id", 0},
            {"eos_token_id", 1},
            {"relative_attention_num_buckets", 8},
            {"relative_attention_max_distance", 12}};
  json.update(more);
  return json;
}

Json decoder_config(const std::string& type, const Json& more = Json::object()) {
  Json json{{"model_type", type},     {"vocab_size", 29},         {"hidden_size", 12},
            {"num_hidden_layers", 2}, {"num_attention_heads", 4}, {"num_key_value_heads", 2},
            {"head_dim", 6},          {"intermediate_size", 20},  {"hidden_act", "silu"},
            {"rope_theta", 5000.0},   {"rms_norm_eps", 1e-5},     {"bos_token_id", 3},
            {"eos_token_id", 2}};
  json.update(more);
  return json;
}

Json gemma3_config(const Json& more = Json::object()) {
  Json json = decoder_config("gemma3_text",
                             {{"num_hidden_layers", 3},
                              {"query_pre_attn_scalar", 6},
                              {"rope_local_base_freq", 300.0},
                              {"sliding_window", 3},
                              {"layer_types", {"sliding_attention", "full_attention", "sliding_attention"}}});
  json.update(more);
  return json;
}

struct Case {
  const char* name;
  Json config;
};

std::vector<Case> cases() {
  const Json linear{{"rope_type", "linear"}, {"factor", 4.0}};
  return {{"m2m_100", seq2seq_config("m2m_100")},
          {"m2m_100 without scale, untied",
           seq2seq_config("m2m_100", {{"scale_embedding", false}, {"tie_word_embeddings", false}})},
          {"m2m_100 with positions from row 4", seq2seq_config("m2m_100", {{"pad_token_id", 3}})},
          {"bart", seq2seq_config("bart")},
          {"mbart", seq2seq_config("mbart", {{"scale_embedding", true}, {"activation_function", "relu"}})},
          {"t5", t5_config()},
          {"t5 with gates", t5_config({{"feed_forward_proj", "gated-gelu"}, {"tie_word_embeddings", false}})},
          {"gpt2",
           {{"model_type", "gpt2"},
            {"vocab_size", 29},
            {"n_embd", 12},
            {"n_layer", 2},
            {"n_head", 3},
            {"n_positions", 16},
            {"bos_token_id", 2},
            {"eos_token_id", 2}}},
          {"llama", decoder_config("llama")},
          {"llama with biases, tied, linear scaling", decoder_config("llama", {{"attention_bias", true},
                                                                               {"mlp_bias", true},
                                                                               {"tie_word_embeddings", true},
                                                                               {"rope_scaling", linear}})},
          {"mistral", decoder_config("mistral", {{"sliding_window", 3}})},
          {"qwen2", decoder_config("qwen2", {{"head_dim", 3 * 4}, {"tie_word_embeddings", true}})},
          {"qwen3", decoder_config("qwen3")},
          {"gemma3", gemma3_config()},
          {"gemma3 with a cap of logits, bfloat16, a scale of scores, linear scaling",
           gemma3_config({{"final_logit_softcapping", 5.0},
                          {"dtype", "bfloat16"},
                          {"query_pre_attn_scalar", 9},
                          {"rope_scaling", linear}})},
          {"gemma3 without windows", gemma3_config({{"layer_types", Json(3, "full_attention")}})}};
}

/// Writes a model with random weights, norms and biases among them.
LoadedModel random_model(const TestFolder& folder, const Json& config, uint64_t seed = 5) {
  const auto model = model_of(config);
  nn::ParameterArray values(model->table(), DType::kFloat32);
  values.flat() = TensorSource(seed).normal({model->table().elements()}, DType::kFloat32, 0.3);
  for (int row = 0; row < model->table().size(); ++row) {
    // BART's first two positions, which no token has, are not stored.
    if (!model->table()[row].name.ends_with(".embed_positions.weight")) continue;
    std::fill_n(values.view(model->table(), {row, 1}).data<float>(), 2 * 12, 0.0F);
  }
  write_json(folder.path("config.json"), model->config_json());
  write_weights(folder.path(), model->table(), values, DType::kFloat32);
  return load_model(folder.path());
}

/// The rest of a directory of CTranslate2: vocabulary and config.json.
void write_others(const TestFolder& folder, const LoadedModel& loaded, const Json& more = Json::object()) {
  const auto* model = dynamic_cast<const AutoregressiveModel*>(loaded.model.get());
  std::vector<std::string> pieces;
  for (int64_t id = 0; id < model->vocabulary_size(); ++id) pieces.push_back("p" + std::to_string(id));
  pieces.at(static_cast<size_t>(model->end_id())) = "</s>";
  const int32_t pad = model->padding_id();
  const bool translates = loaded.model->task() == Task::kTranslation;
  if (translates) pieces.at(static_cast<size_t>(pad)) = "<pad>";
  write_json(folder.path(translates ? "shared_vocabulary.json" : "vocabulary.json"), Json(pieces));
  const Ctranslate2Options options = ctranslate2_options(loaded);
  Json config{{"eos_token", "</s>"}, {"layer_norm_epsilon", nullptr}};
  if (options.norm_epsilon) config["layer_norm_epsilon"] = *options.norm_epsilon;
  const int32_t start = translates ? loaded.seq2seq().start_id() : loaded.language_model().start_id();
  if (start >= 0)
    config[translates ? "decoder_start_token" : "bos_token"] = pieces.at(static_cast<size_t>(start));
  config.update(more);
  write_json(folder.path("config.json"), config);
}

Tensor logits_of(const LoadedModel& loaded) {
  nn::Context context = loaded.context();
  Sequences source, target;
  source.append(std::vector<int32_t>{5, 9, 12, 7, 2});
  target.append(std::vector<int32_t>{2, 4, 11, 21, 6, 3});
  if (loaded.model->task() == Task::kTranslation) return loaded.seq2seq().logits(context, source, target);
  return loaded.language_model().logits(context, target);
}

/// The model, written with weights in `type` and read again.
LoadedModel reread(const TestFolder& folder, const LoadedModel& loaded, Ctranslate2Type type) {
  write_ctranslate2(folder.path("model.bin"), ctranslate2_variables(loaded, type));
  write_others(folder, loaded);
  return load_model(folder.path(), {.precision = Precision::kFloat32, .storage = WeightStorage::kFloat32});
}

TEST(Ctranslate2Model, EveryFamilyIsReadAsItIsWritten) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    const TestFolder original, folder;
    const LoadedModel loaded = random_model(original, each.config);
    const LoadedModel opened = reread(folder, loaded, Ctranslate2Type::kFloat32);
    EXPECT_EQ(opened.model_type, loaded.model_type);
    ASSERT_EQ(opened.model->table().size(), loaded.model->table().size());
    for (int row = 0; row < loaded.model->table().size(); ++row) {
      const std::string& name = loaded.model->table()[row].name;
      ASSERT_EQ(opened.model->table()[row].name, name);
      expect_equal(opened.values.view(opened.model->table(), {row, 1}),
                   loaded.values.view(loaded.model->table(), {row, 1}), name);
    }
    expect_equal(logits_of(opened), logits_of(loaded), "logits");
  }
}

TEST(Ctranslate2Model, QuantizedWeightsAreWithinHalfAStep) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    const TestFolder original, folder, halves;
    const LoadedModel loaded = random_model(original, each.config);
    const LoadedModel int8 = reread(folder, loaded, Ctranslate2Type::kInt8),
                      half = reread(halves, loaded, Ctranslate2Type::kFloat16);
    for (int row = 0; row < loaded.model->table().size(); ++row) {
      const Tensor expected = loaded.values.view(loaded.model->table(), {row, 1});
      double largest = 0;
      for (const double value : expected.to_vector<double>()) largest = std::max(largest, std::abs(value));
      const std::string& name = loaded.model->table()[row].name;
      expect_close(int8.values.view(int8.model->table(), {row, 1}), expected, 0.501 * largest / 127, name);
      expect_close(half.values.view(half.model->table(), {row, 1}), expected, largest / 2048, name);
    }
  }
}

/// What is read from the variables of `config` after `change`.
template <typename Change>
void expect_refused(const Json& config, std::string_view part, const Change& change,
                    const Json& others = Json::object()) {
  SCOPED_TRACE(std::string(part));
  const TestFolder original, folder;
  const LoadedModel loaded = random_model(original, config);
  Ctranslate2Variables content = ctranslate2_variables(loaded, Ctranslate2Type::kFloat32);
  change(content);
  write_ctranslate2(folder.path("model.bin"), content);
  write_others(folder, loaded, others);
  expect_error(ErrorKind::kFormat, part, [&] { load_model(folder.path()); });
}

void set(Ctranslate2Variables& content, const std::string& name, const Tensor& value) {
  std::erase_if(content.variables, [&](const auto& each) { return each.first == name; });
  content.variables.emplace_back(name, value);
}

TEST(Ctranslate2Model, WhatIsNotSupportedIsNamed) {
  const Json m2m = seq2seq_config("m2m_100");
  expect_refused(m2m, "'encoder/layer_0/gate/weight' is not part of a model that it knows",
                 [](auto& content) {
                   set(content, "encoder/layer_0/gate/weight", Tensor::from<float>({1, 2}, {2}));
                 });
  expect_refused(m2m, "its positions and norms (pre-norm, no norm of embeddings)", [](auto& content) {
    set(content, "decoder/position_encodings/encodings",
        TensorSource(1).normal({16, 12}, DType::kFloat32, 1));
  });
  expect_refused(seq2seq_config("m2m_100", {{"pad_token_id", 0}}), "its positions and norms",
                 [](auto& content) {
                   set(content, "decoder/position_encodings/encodings",
                       nn::fairseq_sinusoid_table(16, 12, DType::kFloat32, 2));
                 });
  expect_refused(m2m, "'pre_norm' differs between encoder and decoder",
                 [](auto& content) { set(content, "decoder/pre_norm", Tensor::from<int8_t>({0}, {})); });
  expect_refused(seq2seq_config("mbart"), "the token that the decoder starts from", [](auto&) {},
                 {{"decoder_start_token", nullptr}});
  expect_refused(t5_config(), "its attention scores are scaled", [](auto& content) {
    for (int n = 0; n < 3; ++n) {
      set(content, "decoder/layer_" + std::to_string(n) + "/attention/queries_scale",
          Tensor::from<float>({0.5F}, {}));
    }
  });
  const auto gemma3_refused = [](std::string_view part, const std::string& setting, const Tensor& value) {
    expect_refused(gemma3_config(), part, [&](auto& content) { set(content, setting, value); });
  };
  gemma3_refused("'decoder/layer_1/input_layer_norm/layer_norm_use_residual' is off",
                 "decoder/layer_1/input_layer_norm/layer_norm_use_residual", Tensor::from<int8_t>({0}, {}));
  gemma3_refused("embeddings are multiplied by 3", "decoder/scale_embeddings", Tensor::from<float>({3}, {}));
  gemma3_refused("it does not scale its embeddings", "decoder/scale_embeddings",
                 Tensor::from<int8_t>({0}, {}));
  gemma3_refused("its windows have several sizes", "decoder/layer_0/self_attention/sliding_window",
                 Tensor::from<int32_t>({4}, {}));
  gemma3_refused("several rotary positions", "decoder/layer_2/self_attention/rotary_base",
                 Tensor::from<float>({700}, {}));
  gemma3_refused("scaled, by parameters", "decoder/layer_1/self_attention/rotary_scaling_type",
                 Tensor::from<int8_t>({2}, {}));
  expect_refused(decoder_config("llama"), "it is a Gemma 2 model", [](auto& content) {
    set(content, "decoder/layer_0/pre_feedforward_layer_norm/gamma", Tensor::from<float>({1, 2}, {2}));
  });
  expect_refused(decoder_config("qwen3"), "its positions, norms, windows and biases are not those of",
                 [](auto& content) {
                   for (int n = 0; n < 2; ++n) {
                     set(content, "decoder/layer_" + std::to_string(n) + "/self_attention/sliding_window",
                         Tensor::from<int32_t>({4}, {}));
                   }
                 });
  for (const auto& [specification, advice] :
       {std::pair{"TransformerEncoderSpec", "Heed opens its Hugging Face directory"},
        {"WhisperSpec", "Heed has no models of speech"},
        {"MysterySpec", "its kind is 'MysterySpec'"}}) {
    expect_refused(m2m, advice, [name = specification](auto& content) { content.specification = name; });
  }
}

// CTranslate2's converter leaves it out where it is zero.
TEST(Ctranslate2Model, MissingOutputBiasIsZero) {
  const TestFolder original, folder;
  const LoadedModel loaded = random_model(original, seq2seq_config("bart"));
  Ctranslate2Variables content = ctranslate2_variables(loaded, Ctranslate2Type::kFloat32);
  EXPECT_EQ(std::erase_if(content.variables,
                          [](const auto& each) { return each.first == "decoder/projection/bias"; }),
            1U);
  write_ctranslate2(folder.path("model.bin"), content);
  write_others(folder, loaded);
  const LoadedModel opened = load_model(folder.path());
  const nn::ParameterTable& table = opened.model->table();
  for (int row = 0; row < table.size(); ++row) {
    if (table[row].name != "final_logits_bias") continue;
    EXPECT_EQ(opened.values.view(table, {row, 1}).to_vector<float>(), std::vector<float>(29, 0.0F));
  }
}

TEST(Ctranslate2Model, WhatCtranslate2WouldComputeDifferentlyIsNotWritten) {
  const auto expect_not_written = [](const Json& config, std::string_view part) {
    const TestFolder folder;
    const LoadedModel loaded = random_model(folder, config);
    expect_error(ErrorKind::kUsage, part, [&] { ctranslate2_variables(loaded, Ctranslate2Type::kFloat32); });
  };
  expect_not_written(decoder_config("llama", {{"rope_scaling",
                                               {{"rope_type", "llama3"},
                                                {"factor", 8.0},
                                                {"low_freq_factor", 1.0},
                                                {"high_freq_factor", 4.0},
                                                {"original_max_position_embeddings", 64}}}}),
                     "scaled rotary positions");
  expect_not_written(decoder_config("gemma2"), "of Gemma 2");
  expect_not_written(decoder_config("gemma2", {{"attn_logit_softcapping", nullptr}}), "of Gemma 2");
  for (const char* type : {"qwen2", "qwen3"}) {
    for (const int first : {0, 1}) {
      const Json window{{"use_sliding_window", true}, {"sliding_window", 4}, {"max_window_layers", first}};
      expect_not_written(decoder_config(type, window), "sliding windows in Mistral and Gemma 3 only");
    }
  }
  expect_not_written({{"model_type", "gpt2"},
                      {"vocab_size", 29},
                      {"n_embd", 12},
                      {"n_layer", 2},
                      {"n_head", 3},
                      {"n_positions", 16},
                      {"scale_attn_by_inverse_layer_idx", true}},
                     "not scaled by 1 / sqrt(d_k)");
}

}  // namespace
}  // namespace heed::models
