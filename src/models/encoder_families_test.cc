// What each encoder-only family reads from its config.json, and what it computes from it.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compare.h"
#include "models/architecture.h"
#include "models/config/encoder_only_config.h"
#include "models/config/precision_names.h"
#include "models/directory/loaded_model.h"
#include "models/stacks/encoder_heads.h"
#include "models/test_models.h"
#include "nn/module_test.h"
#include "ops/elementwise.h"
#include "test_folder.h"

namespace heed::models {
namespace {

using Json = nlohmann::json;

const std::vector<std::pair<std::string, std::string>>& classes() {
  static const std::vector<std::pair<std::string, std::string>> names{{"bert", "Bert"},
                                                                      {"roberta", "Roberta"},
                                                                      {"xlm-roberta", "XLMRoberta"},
                                                                      {"distilbert", "DistilBert"},
                                                                      {"mpnet", "MPNet"},
                                                                      {"modernbert", "ModernBert"}};
  return names;
}

/// The keys without defaults, and `more`.
Json encoder_config(const std::string& type, const std::string& suffix, const Json& more = Json::object()) {
  Json json{{"model_type", type}, {"vocab_size", 13}, {"max_position_embeddings", 9}};
  const bool distil = type == "distilbert";
  json[distil ? "dim" : "hidden_size"] = 4;
  json[distil ? "hidden_dim" : "intermediate_size"] = 6;
  json[distil ? "n_layers" : "num_hidden_layers"] = 4;
  json[distil ? "n_heads" : "num_attention_heads"] = 2;
  if (type == "modernbert") json["pad_token_id"] = 0;
  for (const auto& [each, prefix] : classes()) {
    if (each == type) json["architectures"] = {prefix + suffix};
  }
  json.update(more);
  return json;
}

std::unique_ptr<Model> read_encoder(const Json& json) {
  const JsonObject config = JsonObject::parse(json.dump(), "config.json");
  return architecture_of(config).read(config);
}

EncoderOnlyConfig read_config_of(const std::string& type, const Json& more = Json::object()) {
  return dynamic_cast<const EncoderMaskedLm&>(*read_encoder(encoder_config(type, "ForMaskedLM", more)))
      .config();
}

TEST(EncoderFamilies, HeadsOfEveryFamily) {
  for (const auto& [type, prefix] : classes()) {
    SCOPED_TRACE(type);
    EXPECT_EQ(read_encoder(encoder_config(type, "Model"))->task(), Task::kEmbedding);
    EXPECT_EQ(read_encoder(encoder_config(type, "ForMaskedLM"))->task(), Task::kMaskedLanguageModel);
    EXPECT_EQ(read_encoder(encoder_config(type, "ForSequenceClassification"))->task(), Task::kClassification);
    expect_error(ErrorKind::kFormat, prefix + "ForMaskedLM",
                 [&, &name = type] { read_encoder(encoder_config(name, "ForTokenClassification")); });
  }
}

TEST(EncoderFamilies, ConfigsAreWrittenAsTheyWereRead) {
  for (const auto& [type, prefix] : classes()) {
    for (const char* suffix : {"Model", "ForMaskedLM", "ForSequenceClassification"}) {
      const auto model = read_encoder(encoder_config(type, suffix, {{"eos_token_id", 7}}));
      EXPECT_EQ(model->config_json().at("eos_token_id"), 7);
      const Json written = Json::parse(model->config_json().dump());
      const auto again = read_encoder(written);
      EXPECT_EQ(again->config_json(), model->config_json()) << type << suffix;
      EXPECT_EQ(again->task(), model->task());
      EXPECT_EQ(written.at("architectures"), Json{prefix + suffix});
    }
  }
}

/// Files of an encoder without a head have no prefix; with a head they do; both are read_encoder.
TEST(EncoderFamilies, WeightsWithAndWithoutPrefix) {
  for (const auto& [type, prefix] : classes()) {
    SCOPED_TRACE(type);
    const TestFolder folder;
    const auto masked = read_encoder(encoder_config(type, "ForMaskedLM"));
    write_json(folder.path("config.json"), masked->config_json());
    const nn::ParameterArray values = some_values(masked->table());
    write_weights(folder.path(), masked->table(), values, DType::kFloat32);
    const EncoderInput input = input_of({{2, 5, 7, 3}});
    const auto vectors = [&](const LoadedModel& loaded) {
      nn::Context context = loaded.context();
      return loaded.encoder().encode(context, input).value();
    };
    const Tensor expected = vectors(load_model(folder.path()));
    const LoadedModel encoder = load_model(folder.path(), {.encoder = true});
    EXPECT_EQ(encoder.model->task(), Task::kEmbedding);
    expect_equal(vectors(encoder), expected, "without the head");

    const TestFolder bare;
    write_json(bare.path("config.json"), encoder.model->config_json());
    write_weights(bare.path(), encoder.model->table(), encoder.values, DType::kFloat32);
    expect_equal(vectors(load_model(bare.path())), expected, "written without the head");
    EXPECT_FALSE(encoder.model->table()[0].name.starts_with(
        dynamic_cast<const EncoderOnly&>(*encoder.model).config().family->prefix));
    expect_error(ErrorKind::kUsage, "is an encoder without a head (" + type + "): use heed embed",
                 [&] { load_model(bare.path()).classifier(); });
  }
}

/// Quantized weights of a model with a head are an encoder's too, without the head.
TEST(EncoderFamilies, QuantizedWeightsWithAHead) {
  for (const auto& [type, prefix] : classes()) {
    const bool distil = type == "distilbert";
    const Json sizes{{distil ? "dim" : "hidden_size", 32}, {distil ? "hidden_dim" : "intermediate_size", 64}};
    for (const char* suffix : {"ForMaskedLM", "ForSequenceClassification"}) {
      for (const Precision precision : {Precision::kInt8, Precision::kInt4}) {
        SCOPED_TRACE(type + suffix + name_of(precision));
        const TestFolder folder, quantized;
        const auto model = read_encoder(encoder_config(type, suffix, sizes));
        nlohmann::ordered_json config = model->config_json();
        write_json(folder.path("config.json"), config);
        write_weights(folder.path(), model->table(), some_values(model->table()), DType::kFloat32);
        const LoadedModel loaded = load_model(folder.path(), {.precision = precision});
        write_quantized_weights(quantized.path(), loaded.model->table(), loaded.values, *loaded.quantized,
                                WeightFiles::open(folder.path()));
        note_quantization(config, integer_bits(precision));
        write_json(quantized.path("config.json"), config);
        const auto vectors = [](const LoadedModel& encoder) {
          nn::Context context = encoder.context();
          return encoder.encoder().encode(context, input_of({{2, 5, 7, 3}})).value();
        };
        expect_equal(vectors(load_model(quantized.path(), {.encoder = true})),
                     vectors(load_model(folder.path(), {.precision = precision, .encoder = true})),
                     "without the head");
      }
    }
  }
}

/// A directory of sentence-transformers is an encoder, whatever head its config.json names.
TEST(EncoderFamilies, SentenceModulesMeanAnEncoder) {
  const TestFolder folder;
  const auto encoder = read_encoder(encoder_config("mpnet", "Model"));
  write_json(folder.path("config.json"), encoder_config("mpnet", "ForMaskedLM"));
  write_weights(folder.path(), encoder->table(), some_values(encoder->table()), DType::kFloat32);
  expect_error(ErrorKind::kFormat, "lm_head", [&] { load_model(folder.path()); });
  folder.write("modules.json", "[]");
  EXPECT_EQ(load_model(folder.path()).model->task(), Task::kEmbedding);
}

TEST(EncoderFamilies, Gradients) {
  for (const auto& [type, prefix] : classes()) {
    SCOPED_TRACE(type);
    const bool distil = type == "distilbert";
    Json small{{distil ? "n_layers" : "num_hidden_layers", 2}, {distil ? "dim" : "hidden_size", 8}};
    if (type == "modernbert") small.update({{"local_attention", 2}, {"classifier_pooling", "mean"}});
    const auto owner = read_encoder(encoder_config(type, "ForSequenceClassification", small));
    const auto& model = dynamic_cast<const EncoderClassifier&>(*owner);
    const nn::Module module = [&](nn::Context& c, const std::vector<Var>& x) {
      return ops::add(x[0], model.loss(c, input_of({{2, 5, 3}, {2, 7, 5, 10, 3}}), {1, 0}, {}).loss);
    };
    EXPECT_EQ(gradient_mismatch(nn::with_parameters(model.table(), module, /*training=*/false),
                                {TensorSource(1).normal({1}), nn::random_parameters(model.table()).flat()},
                                {.tolerance_factor = 200}),
              "");
  }
}

TEST(Roberta, PositionsDoNotCountPadding) {
  const auto owner = read_encoder(encoder_config("roberta", "Model"));
  const auto& model = dynamic_cast<const EncoderOnly&>(*owner);
  EXPECT_EQ(model.max_length(), 7) << "of 9 rows, two stand before the first position";
  const nn::ParameterTable& table = model.table();
  ASSERT_EQ(table[1].name, "embeddings.position_embeddings.weight");
  const nn::ParameterArray values = some_values(table);
  const auto vectors = [&](const nn::ParameterArray& with, const std::vector<int32_t>& text) {
    nn::Context context = nn::context_for(table, with);
    return model.encode(context, input_of({text})).value().to_vector<double>();
  };
  // The first token has row 2, the padding row 1, the token after it row 3.
  nn::ParameterArray other = some_values(table);
  Tensor row = other.view(table, {1, 1}).narrow(0, 4, 1);
  row.data<float>()[0] += 1;
  EXPECT_EQ(vectors(other, {2, 1, 5}), vectors(values, {2, 1, 5}));
  EXPECT_NE(vectors(other, {2, 6, 5}), vectors(values, {2, 6, 5}));
  const Json wide{{"pad_token_id", 8}};
  expect_error(ErrorKind::kFormat, "max_position_embeddings",
               [&] { read_encoder(encoder_config("roberta", "Model", wide)); });
}

TEST(EncoderFamilies, OthersThanBertReadNoTokenTypes) {
  for (const auto& [type, prefix] : classes()) {
    if (type == "bert") continue;
    const auto owner = read_encoder(encoder_config(type, "Model"));
    const auto& model = dynamic_cast<const EncoderOnly&>(*owner);
    EXPECT_EQ(model.types(), 0) << type;
    EXPECT_FALSE(architecture_named(type).token_types);
    const nn::ParameterArray values = some_values(model.table());
    nn::Context context = nn::context_for(model.table(), values);
    EncoderInput typed = input_of({{2, 5, 3}});
    const Tensor plain = model.encode(context, typed).value();
    typed.types = {0, 1, 1};
    expect_equal(model.encode(context, typed).value(), plain, type);
  }
}

TEST(Bert, ReadsTokenTypes) {
  const auto owner = read_encoder(encoder_config("bert", "Model"));
  const auto& model = dynamic_cast<const EncoderOnly&>(*owner);
  EXPECT_EQ(model.types(), 2);
  EXPECT_TRUE(architecture_named("bert").token_types);
  const nn::ParameterArray values = some_values(model.table());
  nn::Context context = nn::context_for(model.table(), values);
  EncoderInput typed = input_of({{2, 5, 3}});
  const std::vector<double> plain = model.encode(context, typed).value().to_vector<double>();
  typed.types = {0, 1, 1};
  EXPECT_NE(model.encode(context, typed).value().to_vector<double>(), plain);
}

TEST(DistilBert, Particulars) {
  const EncoderOnlyConfig c =
      read_config_of("distilbert", {{"seq_classif_dropout", 0.25}, {"dropout", 0.125}});
  EXPECT_EQ(c.norm_epsilon, 1e-12);
  EXPECT_EQ(c.classifier_activation, Activation::kRelu);
  EXPECT_EQ(c.classifier_dropout, 0.25);
  EXPECT_EQ(c.dropout, 0.125);
  EXPECT_EQ(c.attention_output_dropout, 0);
}

TEST(MpNet, OneBiasForAllLayers) {
  const auto owner = read_encoder(encoder_config("mpnet", "Model", {{"relative_attention_num_buckets", 40}}));
  const nn::ParameterTable& table = owner->table();
  int found = 0;
  for (int row = 0; row < table.size(); ++row) {
    if (table[row].name.find("relative_attention_bias") == std::string::npos) continue;
    ++found;
    EXPECT_EQ(table[row].name, "encoder.relative_attention_bias.weight");
    EXPECT_EQ(table[row].shape, (Shape{40, 2}));
  }
  EXPECT_EQ(found, 1);
  expect_error(ErrorKind::kFormat, "relative_attention_num_buckets", [] {
    read_encoder(encoder_config("mpnet", "Model", {{"relative_attention_num_buckets", 16}}));
  });
}

using Layers = std::vector<bool>;

TEST(ModernBert, TwoKindsOfLayers) {
  const EncoderOnlyConfig usual = read_config_of("modernbert");
  EXPECT_EQ(usual.sliding, (Layers{false, true, true, false}));
  EXPECT_EQ(usual.window, 64);
  EXPECT_EQ(usual.rotary.base, 160000);
  EXPECT_EQ(usual.sliding_rotary.base, 10000);
  const Json older{{"global_attn_every_n_layers", 2}, {"global_rope_theta", 8e4},
                   {"local_rope_theta", 2e4},         {"local_attention", 7},
                   {"layer_norm_eps", 0.5},           {"position_embedding_type", "absolute"}};
  const EncoderOnlyConfig changed = read_config_of("modernbert", older);
  EXPECT_EQ(changed.sliding, (Layers{false, true, false, true}));
  EXPECT_EQ(changed.window, 3) << "to either side";
  EXPECT_EQ(changed.rotary.base, 8e4);
  EXPECT_EQ(changed.sliding_rotary.base, 2e4);
  EXPECT_EQ(changed.norm_epsilon, 1e-5) << "norm_eps";
  EXPECT_EQ(encoder_only_json(changed).at("global_attn_every_n_layers"), 2);
  Json nested = older;
  nested["layer_types"] = {"full_attention", "full_attention", "sliding_attention", "full_attention"};
  EXPECT_EQ(read_config_of("modernbert", nested).sliding, (Layers{false, false, true, false}));
  nested["rope_parameters"] = {{"full_attention", {{"rope_theta", 9e4}, {"rope_type", "default"}}}};
  expect_error(ErrorKind::kFormat, "the same values as in global_rope_theta",
               [&] { read_config_of("modernbert", nested); });
  nested.erase("global_rope_theta");
  EXPECT_EQ(read_config_of("modernbert", nested).rotary.base, 9e4);
  EXPECT_EQ(read_config_of("modernbert", nested).sliding_rotary.base, 2e4);
  Json one_base = older;
  one_base["local_rope_theta"] = nullptr;
  EXPECT_EQ(read_config_of("modernbert", one_base).sliding_rotary.base, 8e4);
}

// The bases stand beside rope_parameters and say nothing about the scaling.
TEST(ModernBert, ScalingsAreWrittenAsTheyWereRead) {
  for (const char* scaled : {"full_attention", "sliding_attention"}) {
    Json parameters;
    parameters[scaled] = {{"rope_type", "linear"}, {"factor", 2.0}, {"rope_theta", 160000.0}};
    const EncoderOnlyConfig config = read_config_of("modernbert", {{"rope_parameters", parameters}});
    Json written = Json::parse(encoder_only_json(config).dump());
    const auto again = read_encoder(written);
    const EncoderOnlyConfig& read = dynamic_cast<const EncoderMaskedLm&>(*again).config();
    EXPECT_EQ(read.rotary, config.rotary) << scaled;
    EXPECT_EQ(read.sliding_rotary, config.sliding_rotary) << scaled;
    EXPECT_NE(read.rotary.scaling, read.sliding_rotary.scaling) << scaled;
    written["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 4.0}};
    expect_error(ErrorKind::kFormat, "the same values as in global_rope_theta",
                 [&] { read_encoder(written); });
  }
}

TEST(ModernBert, BiasesPoolingAndActivations) {
  const EncoderOnlyConfig usual = read_config_of("modernbert");
  EXPECT_FALSE(usual.attention_bias || usual.feed_forward_bias || usual.norm_bias || usual.head_bias);
  EXPECT_TRUE(usual.vocabulary_bias);
  EXPECT_EQ(usual.pooling, EncoderPooling::kFirst);
  EXPECT_EQ(usual.vocabulary_activation, Activation::kGelu);
  const Json all{
      {"attention_bias", true},          {"mlp_bias", true},           {"norm_bias", true},
      {"classifier_bias", true},         {"decoder_bias", false},      {"classifier_pooling", "mean"},
      {"classifier_activation", "silu"}, {"hidden_activation", "relu"}};
  const EncoderOnlyConfig other = read_config_of("modernbert", all);
  EXPECT_TRUE(other.attention_bias && other.feed_forward_bias && other.norm_bias && other.head_bias);
  EXPECT_FALSE(other.vocabulary_bias);
  EXPECT_EQ(other.pooling, EncoderPooling::kMean);
  EXPECT_EQ(other.classifier_activation, Activation::kSwish);
  EXPECT_EQ(other.vocabulary_activation, Activation::kSwish);
  EXPECT_EQ(other.activation, Activation::kRelu);
  EXPECT_EQ(Json(encoder_only_json(other)).at("classifier_activation"), "swish");
  const EncoderMaskedLm biased(other), plain(usual);
  EXPECT_GT(biased.table().size(), plain.table().size());
  for (int row = 0; row < plain.table().size(); ++row) {
    const std::string& name = plain.table()[row].name;
    EXPECT_TRUE(!name.ends_with(".bias") || name == "decoder.bias") << name;
    EXPECT_NE(name, "model.layers.0.attn_norm.weight");
  }
}

TEST(EncoderFamilies, UntiedOutput) {
  for (const auto& [type, prefix] : classes()) {
    const auto model = read_encoder(encoder_config(type, "ForMaskedLM", {{"tie_word_embeddings", false}}));
    const auto& masked = dynamic_cast<const EncoderMaskedLm&>(*model);
    bool found = false;
    for (int row = 0; row < masked.table().size(); ++row)
      found = found || masked.table()[row].name == masked.config().family->vocabulary.weight;
    EXPECT_TRUE(found) << type;
    EXPECT_EQ(Json(model->config_json()).at("tie_word_embeddings"), false);
  }
}

TEST(EncoderFamilies, RefusedByName) {
  const std::vector<std::pair<std::string, Json>> cases{
      {"roberta", {{"position_embedding_type", "relative_key"}}},
      {"xlm-roberta", {{"is_decoder", true}}},
      {"distilbert", {{"hidden_size", 8}}},
      {"distilbert", {{"activation", "gelo"}}},
      {"mpnet", {{"embedding_size", 8}}},
      {"modernbert", {{"layer_types", {"chunked_attention"}}}},
      {"modernbert", {{"local_attention", 0}}},
      {"modernbert", {{"classifier_pooling", "max"}}},
      {"modernbert", {{"sliding_window", 4}}},
      {"modernbert", {{"num_attention_heads", 4}}},
  };
  for (const auto& [type, more] : cases) {
    const std::string key = more.begin().key();
    expect_error(ErrorKind::kFormat, "'" + key + "'",
                 [&, json = encoder_config(type, "ForMaskedLM", more)] { read_encoder(json); });
  }
}

}  // namespace
}  // namespace heed::models
