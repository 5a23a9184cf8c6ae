// What each decoder-only family reads from its config.json: defaults, older keys, and what is refused.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "models/architecture.h"
#include "models/config/decoder_only_config.h"
#include "models/stacks/decoder_only.h"
#include "test_folder.h"

namespace heed::models {
namespace {

using Json = nlohmann::json;

/// The keys without defaults, and `more`.
Json config_of(const std::string& type, const Json& more = Json::object()) {
  Json json{{"model_type", type},       {"vocab_size", 97},       {"hidden_size", 16},
            {"intermediate_size", 24},  {"num_hidden_layers", 4}, {"num_attention_heads", 8},
            {"num_key_value_heads", 2}, {"head_dim", 6},          {"max_position_embeddings", 128}};
  json.update(more);
  return json;
}

DecoderOnlyConfig read_decoder(const Json& json) {
  const JsonObject config = JsonObject::parse(json.dump(), "config.json");
  const std::unique_ptr<Model> model = architecture_of(config).read(config);
  return dynamic_cast<const DecoderOnly&>(*model).config();
}

using Layers = std::vector<bool>;

TEST(Mistral, WindowOfNullIsNone) {
  EXPECT_EQ(read_decoder(config_of("mistral")).window, 4096);
  EXPECT_EQ(read_decoder(config_of("mistral")).sliding, Layers(4, true));
  EXPECT_EQ(read_decoder(config_of("mistral", {{"sliding_window", 8}})).window, 8);
  EXPECT_EQ(read_decoder(config_of("mistral", {{"sliding_window", nullptr}})).sliding, Layers());
}

TEST(Qwen, SlidesWhereItIsTold) {
  for (const char* type : {"qwen2", "qwen3"}) {
    const Json window{{"sliding_window", 8}, {"max_window_layers", 3}};
    EXPECT_EQ(read_decoder(config_of(type, window)).sliding, Layers());
    Json used = config_of(type, window);
    used["use_sliding_window"] = true;
    EXPECT_EQ(read_decoder(used).sliding, (Layers{false, false, false, true}));
    EXPECT_EQ(read_decoder(used).window, 8);
    used["layer_types"] = {"full_attention", "sliding_attention", "full_attention", "full_attention"};
    EXPECT_EQ(read_decoder(used).sliding, (Layers{false, true, false, false}));
    used["use_sliding_window"] = false;
    expect_error(ErrorKind::kFormat, "where use_sliding_window is false", [&] { read_decoder(used); });
  }
}

TEST(Qwen, Biases) {
  const DecoderOnlyConfig two = read_decoder(config_of("qwen2")), three = read_decoder(config_of("qwen3"));
  EXPECT_TRUE(two.attention_bias && !two.attention_output_bias);
  EXPECT_FALSE(three.attention_bias);
  const DecoderOnlyConfig biased = read_decoder(config_of("qwen3", {{"attention_bias", true}}));
  EXPECT_TRUE(biased.attention_bias && biased.attention_output_bias);
}

TEST(Gemma2, CapsOfNullAreNone) {
  const DecoderOnlyConfig usual = read_decoder(config_of("gemma2"));
  EXPECT_EQ(usual.score_cap, 50);
  EXPECT_EQ(usual.logit_cap, 30);
  EXPECT_EQ(usual.sliding, (Layers{true, false, true, false}));
  EXPECT_NEAR(usual.score_scale, 1.0 / 16, 1e-15);
  const Json none{{"attn_logit_softcapping", nullptr}, {"final_logit_softcapping", nullptr}};
  EXPECT_EQ(read_decoder(config_of("gemma2", none)).score_cap, 0);
  EXPECT_EQ(read_decoder(config_of("gemma2", none)).logit_cap, 0);
}

TEST(Gemma2, EmbeddingScaleHasTheTypeOfTheWeights) {
  const Json wide{{"hidden_size", 3072}};
  EXPECT_NEAR(read_decoder(config_of("gemma2", wide)).embedding_scale, 55.4256, 1e-4);
  for (const char* key : {"dtype", "torch_dtype"}) {
    Json json = config_of("gemma2", wide);
    json[key] = "bfloat16";
    const DecoderOnlyConfig config = read_decoder(json);
    EXPECT_EQ(config.embedding_scale, 55.5);
    EXPECT_EQ(decoder_only_json(config).at("dtype"), "bfloat16");
  }
}

TEST(Gemma3, TwoKindsOfLayers) {
  const Json older{{"sliding_window_pattern", 3}, {"rope_theta", 5e5}, {"rope_local_base_freq", 2e4}};
  const DecoderOnlyConfig config = read_decoder(config_of("gemma3_text", older));
  EXPECT_EQ(config.sliding, (Layers{true, true, false, true}));
  EXPECT_EQ(config.rotary.base, 5e5);
  EXPECT_EQ(config.sliding_rotary.base, 2e4);
  EXPECT_EQ(config.score_cap, 0);
  EXPECT_EQ(decoder_only_json(config).at("sliding_window_pattern"), 3);
  EXPECT_EQ(read_decoder(config_of("gemma3_text")).rotary.base, 1e6);
  EXPECT_EQ(read_decoder(config_of("gemma3_text")).sliding_rotary.base, 1e4);

  Json nested = config_of("gemma3_text");
  nested["rope_parameters"] = {
      {"full_attention", {{"rope_type", "linear"}, {"factor", 8.0}, {"rope_theta", 1e6}}},
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 1e4}}}};
  EXPECT_EQ(read_decoder(nested).rotary.scaling.factor, 8);
  EXPECT_EQ(read_decoder(nested).sliding_rotary.scaling.factor, 1);
  nested["rope_theta"] = 5e5;
  expect_error(ErrorKind::kFormat, "the same values as in rope_theta", [&] { read_decoder(nested); });
}

TEST(RotaryConfig, Types) {
  const auto rotary = [](const Json& parameters) {
    return read_decoder(config_of("llama", {{"rope_scaling", parameters}})).rotary;
  };
  EXPECT_EQ(rotary({{"type", "dynamic"}, {"factor", 2.0}}).scaling, ops::RotaryScaling());
  const Rotary yarn = rotary({{"type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 32}});
  EXPECT_EQ(yarn.scaling.original_length, 32);
  EXPECT_NEAR(yarn.scaling.amplitude, 1.138629436111989, 1e-12);  // transformers 5.23
  const Json scales{{"type", "yarn"}, {"factor", 4.0}, {"mscale", 1.0}, {"mscale_all_dim", 0.5}};
  EXPECT_NEAR(rotary(scales).scaling.amplitude, 1.0648216253695715, 1e-12);  // the same
  EXPECT_EQ(rotary(scales).scaling.original_length, 128) << "max_position_embeddings";
  Json llama3{{"rope_type", "llama3"}, {"factor", 8.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}};
  llama3["original_max_position_embeddings"] = 64;
  EXPECT_EQ(rotary(llama3).scaling.original_length, 64);
  llama3["high_freq_factor"] = 1.0;
  expect_error(ErrorKind::kFormat, "rope_scaling.high_freq_factor", [&] { rotary(llama3); });
}

TEST(RotaryConfig, IsWrittenAsItWasRead) {
  for (const Json& parameters :
       {Json{{"rope_type", "dynamic"}, {"factor", 2.0}}, Json{{"rope_type", "linear"}, {"factor", 3.0}},
        Json{{"rope_type", "yarn"}, {"factor", 4.0}, {"truncate", false}},
        Json{
            {"rope_type", "llama3"}, {"factor", 8.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}}}) {
    const DecoderOnlyConfig config = read_decoder(config_of("qwen2", {{"rope_parameters", parameters}}));
    const Json written = Json::parse(decoder_only_json(config).dump());
    EXPECT_EQ(written.at("rope_parameters").at("rope_type"), parameters.at("rope_type"));
    EXPECT_EQ(read_decoder(written).rotary, config.rotary) << parameters;
  }
}

// Older keys beside rope_parameters, which say nothing about the scaling.
TEST(RotaryConfig, ScalingsOfBothKindsOfLayersAreWrittenAsTheyWereRead) {
  Json json = config_of("gemma3_text");
  json["rope_parameters"] = {
      {"full_attention", {{"rope_type", "linear"}, {"factor", 8.0}, {"rope_theta", 1e6}}},
      {"sliding_attention", {{"rope_type", "linear"}, {"factor", 2.0}, {"rope_theta", 1e4}}}};
  const DecoderOnlyConfig config = read_decoder(json);
  EXPECT_EQ(config.sliding_rotary.scaling.factor, 2);
  Json written = Json::parse(decoder_only_json(config).dump());
  EXPECT_EQ(written.at("rope_local_base_freq"), 1e4);
  EXPECT_EQ(read_decoder(written).rotary, config.rotary);
  EXPECT_EQ(read_decoder(written).sliding_rotary, config.sliding_rotary);
  written["rope_local_base_freq"] = 2e4;
  expect_error(ErrorKind::kFormat, "the same values as in rope_theta", [&] { read_decoder(written); });
  written["rope_local_base_freq"] = 1e4;
  written["rope_scaling"]["factor"] = 4.0;
  expect_error(ErrorKind::kFormat, "the same values as in rope_theta", [&] { read_decoder(written); });
}

TEST(DecoderFamilies, SeveralEndIds) {
  const DecoderOnlyConfig config = read_decoder(config_of("llama", {{"eos_token_id", {5, 9}}}));
  EXPECT_EQ(config.end_id, 5);
  EXPECT_EQ(config.other_end_ids, std::vector<int32_t>{9});
  EXPECT_EQ(decoder_only_json(config).at("eos_token_id"), (std::vector<int>{5, 9}));
}

// As in transformers; GPT-2's are those of its own vocabulary.
TEST(DecoderFamilies, SpecialTokensOfConfigsWithoutTheKeys) {
  const auto ids_of = [](const Json& json) {
    const DecoderOnlyConfig c = read_decoder(json);
    return std::vector<int32_t>{c.start_id, c.end_id, c.padding_id};
  };
  for (const auto& [type, ids] :
       std::vector<std::pair<std::string, std::vector<int32_t>>>{{"llama", {1, 2, -1}},
                                                                 {"mistral", {1, 2, -1}},
                                                                 {"qwen2", {-1, -1, -1}},
                                                                 {"qwen3", {-1, -1, -1}},
                                                                 {"gemma2", {2, 1, 0}},
                                                                 {"gemma3_text", {2, 1, 0}}}) {
    EXPECT_EQ(ids_of(config_of(type)), ids) << type;
    const Json none{{"bos_token_id", nullptr}, {"eos_token_id", nullptr}, {"pad_token_id", nullptr}};
    EXPECT_EQ(ids_of(config_of(type, none)), (std::vector<int32_t>{-1, -1, -1})) << type;
    EXPECT_TRUE(read_decoder(config_of(type)).other_end_ids.empty());
  }
  Json gpt2{{"model_type", "gpt2"}, {"vocab_size", 50257}, {"n_embd", 2}, {"n_layer", 1}, {"n_head", 1}};
  EXPECT_EQ(ids_of(gpt2), (std::vector<int32_t>{50256, 50256, -1}));
  gpt2["vocab_size"] = 50256;
  EXPECT_EQ(ids_of(gpt2), (std::vector<int32_t>{-1, -1, -1}));
}

TEST(DecoderFamilies, KeyValueHeadsOfNullAreAllHeads) {
  for (const auto& [type, usual] : std::vector<std::pair<std::string, int>>{
           {"llama", 8}, {"mistral", 8}, {"qwen2", 32}, {"qwen3", 32}, {"gemma2", 4}, {"gemma3_text", 4}}) {
    Json json = config_of(type, {{"num_attention_heads", 64}, {"num_key_value_heads", nullptr}});
    EXPECT_EQ(read_decoder(json).key_value_heads, 64) << type;
    json.erase("num_key_value_heads");
    EXPECT_EQ(read_decoder(json).key_value_heads, type == "llama" ? 64 : usual) << type;
  }
}

TEST(DecoderFamilies, RefusedByName) {
  const std::vector<std::pair<std::string, Json>> cases{
      {"mistral", {{"attention_bias", true}}},
      {"mistral", {{"sliding_window", 0}}},
      {"qwen2", {{"attention_bias", false}}},
      {"qwen2", {{"use_mrope", true}}},
      {"qwen3", {{"mlp_bias", true}}},
      {"gemma2", {{"layer_types", {"chunked_attention"}}}},
      {"gemma2", {{"use_bidirectional_attention", true}}},
      {"gemma3_text", {{"attn_logit_softcapping", 50.0}}},
      {"gemma3_text", {{"sliding_window", nullptr}}},
      {"gemma3_text", {{"layer_types", {"full_attention"}}}},
  };
  for (const auto& [type, more] : cases) {
    const std::string key = more.begin().key();
    expect_error(ErrorKind::kFormat, "'" + key + "'",
                 [&, json = config_of(type, more)] { read_decoder(json); });
  }
  expect_error(ErrorKind::kFormat, "'rope_theta' is 10000.0, but Heed does not know", [] {
    read_decoder(config_of("gemma3_text", {{"rope_parameters", {{"rope_theta", 1e4}}}}));
  });
}

}  // namespace
}  // namespace heed::models
