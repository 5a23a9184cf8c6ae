#include "models/stacks/encoder_heads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "compare.h"
#include "io/safetensors/safetensors.h"
#include "models/config/encoder_only_config.h"
#include "models/directory/loaded_model.h"
#include "models/test_models.h"
#include "nn/module_test.h"
#include "ops/elementwise.h"
#include "test_folder.h"

namespace heed::models {
namespace {

EncoderOnlyConfig tiny() {
  EncoderOnlyConfig config = bert_config(EncoderHead::kClassifier);
  config.vocabulary = 11;
  config.width = 4;
  config.layers = 2;
  config.heads = 2;
  config.inner_width = 6;
  config.max_length = 5;
  config.dropout = config.embedding_dropout = config.attention_dropout = config.classifier_dropout = 0.2;
  config.labels = {"bad", "good", "neither"};
  return config;
}

const EncoderInput kInput = [] {
  EncoderInput input = input_of({{2, 5, 3}, {2, 3}, {2, 7, 5, 10, 3}});
  input.types = {0, 0, 0, 0, 0, 0, 0, 1, 1, 1};
  return input;
}();

/// Parameters of a usual size, norms near 1.
TEST(BertClassifier, Gradients) {
  const EncoderClassifier model(tiny());
  const ClassificationOptions options{.class_weights = {1, 0.5, 3}, .smoothing = 0.1, .scale = 0.7};
  for (const bool training : {false, true}) {
    const nn::Module module = [&](nn::Context& c, const std::vector<Var>& x) {
      return ops::add(x[0], model.loss(c, kInput, {1, 2, 0}, options).loss);
    };
    // Five consecutive norms of four features have larger higher derivatives than a single layer.
    EXPECT_EQ(gradient_mismatch(nn::with_parameters(model.table(), module, training),
                                {TensorSource(1).normal({1}), nn::random_parameters(model.table()).flat()},
                                {.tolerance_factor = 100}),
              "");
  }
}

TEST(BertClassifier, LossFollowsItsDefinition) {
  const EncoderClassifier model(tiny());
  const nn::ParameterArray values = some_values(model.table(), DType::kFloat64);
  nn::Context context = nn::context_for(model.table(), values);
  const std::vector<double> logits = model.logits(context, kInput).to_vector<double>();
  const std::vector<int32_t> labels{1, 2, 0};
  const std::vector<float> weights{1, 0.5, 3};
  double nll = 0, weighted = 0;
  int64_t correct = 0;
  for (size_t b = 0; b < 3; ++b) {
    const double* row = logits.data() + 3 * b;
    const double sum = std::exp(row[0]) + std::exp(row[1]) + std::exp(row[2]);
    const auto minus_log_p = [&](int32_t c) { return std::log(sum) - row[c]; };
    nll += minus_log_p(labels[b]);
    const double spread = (minus_log_p(0) + minus_log_p(1) + minus_log_p(2)) / 3;
    weighted += static_cast<double>(weights[labels[b]]) * (0.9 * minus_log_p(labels[b]) + 0.1 * spread);
    correct += std::max_element(row, row + 3) - row == labels[b] ? 1 : 0;
  }
  const ClassificationLoss loss =
      model.loss(context, kInput, labels, {.class_weights = weights, .smoothing = 0.1, .scale = 2});
  EXPECT_NEAR(loss.loss_sum, weighted, 1e-12);
  EXPECT_NEAR(loss.loss.value().data<double>()[0], 2 * weighted, 1e-12);
  EXPECT_NEAR(loss.negative_log_likelihood, nll, 1e-12);
  EXPECT_EQ(loss.weight, 4.5);
  EXPECT_EQ(loss.correct, correct);
  EXPECT_EQ(model.loss(context, kInput, labels, {}).weight, 3);
  EXPECT_NEAR(model.loss(context, kInput, labels, {}).loss_sum, nll, 1e-12);
}

TEST(BertClassifier, IsBatchInvariant) {
  const EncoderClassifier model(tiny());
  const nn::ParameterArray values = some_values(model.table());
  const nn::PackedWeights packed(model.table(), values);
  nn::Context context = packed.context();
  const Tensor together = model.logits(context, input_of({{2, 5, 3}, {2, 3}, {2, 7, 5, 10, 3}}));
  expect_equal(model.logits(context, input_of({{2, 7, 5, 10, 3}})), together.narrow(0, 2, 1).clone(),
               "alone");
  // Text, order and type do matter.
  const auto differs = [&](const EncoderInput& input) {
    return model.logits(context, input).to_vector<double>() !=
           together.narrow(0, 0, 1).clone().to_vector<double>();
  };
  EXPECT_FALSE(differs(input_of({{2, 5, 3}})));
  EXPECT_TRUE(differs(input_of({{2, 6, 3}})));
  EXPECT_TRUE(differs(input_of({{2, 3, 5}})));
  EncoderInput typed = input_of({{2, 5, 3}});
  typed.types = {0, 0, 1};
  EXPECT_TRUE(differs(typed));
}

TEST(BertClassifier, RefusesInvalidInput) {
  const EncoderClassifier model(tiny());
  const nn::ParameterArray values = some_values(model.table());
  nn::Context context = nn::context_for(model.table(), values);
  const auto logits = [&](const EncoderInput& input) { return model.logits(context, input); };
  expect_error(ErrorKind::kUsage, "a sequence of 6 tokens exceeds the model's maximum length of 5", [&] {
    logits(input_of({{2, 5, 5, 5, 5, 3}}));
  });
  expect_error(ErrorKind::kUsage, "text 1 has no tokens", [&] { logits(input_of({{2, 3}, {}})); });
  expect_error(ErrorKind::kUsage, "id 11", [&] { logits(input_of({{2, 11, 3}})); });
  EncoderInput typed = input_of({{2, 3}});
  typed.types = {0, 2};
  expect_error(ErrorKind::kUsage, "token type 2 is invalid", [&] { logits(typed); });
  typed.types = {0};
  expect_error(ErrorKind::kShape, "1 token types for 2 tokens", [&] { logits(typed); });
  expect_error(ErrorKind::kShape, "2 class weights for 3 classes", [&] {
    model.loss(context, input_of({{2, 3}}), {0}, {.class_weights = {1, 1}});
  });
  expect_error(ErrorKind::kUsage, "target 3", [&] {
    model.loss(context, input_of({{2, 3}}), {3}, {.class_weights = {1, 1, 1}});
  });
  EncoderOnlyConfig one_class = tiny();
  one_class.labels = {"always"};
  expect_error(ErrorKind::kUsage, "at least two classes", [&] { EncoderClassifier refused(one_class); });
}

TEST(BertMaskedLm, LogitsAtPositions) {
  EncoderOnlyConfig config = tiny();
  config.head = EncoderHead::kVocabulary;
  const EncoderMaskedLm model(config);
  const nn::ParameterArray values = some_values(model.table());
  const nn::PackedWeights packed(model.table(), values);
  nn::Context context = nn::context_for(model.table(), values);
  context.packed = &packed;  // with which a row does not depend on how many there are
  const Tensor all = model.logits(context, kInput, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(all.shape(), (Shape{10, 11}));
  expect_equal(model.logits(context, kInput, {7, 1}).narrow(0, 0, 1).clone(), all.narrow(0, 7, 1).clone(),
               "position 7");
}

// ---- config.json and directories -------------------------------------------------------------------------

const char* kBertConfig = R"({"model_type": "bert", "architectures": ["BertForSequenceClassification"],
  "vocab_size": 11, "hidden_size": 4, "num_hidden_layers": 2, "num_attention_heads": 2,
  "intermediate_size": 6, "max_position_embeddings": 5, "id2label": {"0": "bad", "1": "good"}})";

std::unique_ptr<Model> read_bert(const nlohmann::json& changes = nlohmann::json::object()) {
  nlohmann::json config = nlohmann::json::parse(kBertConfig);
  config.update(changes);
  return bert_architecture().read(JsonObject::parse(config.dump(), "config.json"));
}

TEST(BertConfig, RoundTrip) {
  EncoderOnlyConfig config = tiny();
  config.types = 3;
  config.activation = Activation::kRelu;
  config.norm_epsilon = 1e-6;
  config.classifier_dropout = 0.35;
  config.padding_id = 1;
  const auto json = EncoderClassifier(config).config_json();
  const auto back = bert_architecture().read(JsonObject::parse(json.dump(), "config.json"));
  const auto& model = dynamic_cast<const EncoderClassifier&>(*back);
  EXPECT_EQ(model.config_json(), json);
  EXPECT_EQ(model.labels(), config.labels);
  EXPECT_EQ(model.config().types, 3);
  EXPECT_EQ(model.config().norm_epsilon, 1e-6);
  EXPECT_EQ(model.config().classifier_dropout, 0.35);
  EXPECT_EQ(json["id2label"]["2"], "neither");
  EXPECT_EQ(json["label2id"]["neither"], 2);
}

TEST(BertConfig, HasTheDefaultsOfTransformers) {
  const auto model =
      read_bert({{"id2label", nullptr}, {"hidden_dropout_prob", 0.3}, {"classifier_dropout", nullptr}});
  const auto& bert = dynamic_cast<const EncoderClassifier&>(*model);
  EXPECT_EQ(bert.labels(), (std::vector<std::string>{"LABEL_0", "LABEL_1"}));
  EXPECT_EQ(bert.config().norm_epsilon, 1e-12);
  EXPECT_EQ(bert.config().types, 2);
  EXPECT_EQ(bert.config().classifier_dropout, 0.3);
  EXPECT_EQ(read_bert({{"architectures", {"BertForMaskedLM"}}})->task(), Task::kMaskedLanguageModel);
}

TEST(BertConfig, RefusesContradictionsAndUnsupportedFeatures) {
  const auto expect_refused = [](const nlohmann::json& changes, const std::string& part) {
    expect_error(ErrorKind::kFormat, part, [&] { read_bert(changes); });
  };
  expect_refused({{"hidden_size", 5}}, "a number that divides hidden_size (5)");
  expect_refused({{"pad_token_id", 11}}, "pad_token_id");
  expect_refused({{"vocab_size", 0}}, "vocab_size");
  expect_refused({{"architectures", {"BertForTokenClassification"}}}, "BertForSequenceClassification");
  expect_refused({{"architectures", nullptr}}, "architectures");
  expect_refused({{"is_decoder", true}}, "is_decoder");
  expect_refused({{"position_embedding_type", "relative_key"}}, "\"absolute\"");
  expect_refused({{"problem_type", "regression"}}, "problem_type");
  expect_refused({{"id2label", {{"0", "good"}}}}, "at least two classes");
  expect_refused({{"id2label", {{"0", "good"}, {"2", "bad"}}}}, "the numbers 0 to 1");
  expect_refused({{"id2label", {{"0", "good"}, {"1", "good"}}}}, "distinct labels");
  expect_refused({{"id2label", {{"0", "good"}, {"1", ""}}}}, "labels without line ends");
  expect_refused({{"id2label", {{"0", "good"}, {"1", "b\nad"}}}}, "labels without line ends");
  expect_refused({{"label2id", {{"bad", 1}, {"good", 0}}}}, "label2id");
  expect_refused({{"hidden_act", "gelo"}}, "gelu");
}

TEST(BertDirectory, RoundTripAndOldParameterNames) {
  TestFolder folder;
  const EncoderClassifier model(tiny());
  const nn::ParameterArray values = some_values(model.table());
  write_json(folder.path("config.json"), model.config_json());
  write_weights(folder.path(), model.table(), values, DType::kFloat32);
  const LoadedModel loaded = load_model(folder.path());
  expect_equal(loaded.values.flat(), values.flat(), "values");
  EXPECT_EQ(loaded.classifier().labels(), tiny().labels);
  expect_error(ErrorKind::kUsage, "is a classifier (bert): use heed classify", [&] { loaded.seq2seq(); });

  // Old files use the names gamma and beta, and contain position ids.
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (int row = 0; row < model.table().size(); ++row) {
    std::string name = model.table()[row].name;
    if (name.ends_with("LayerNorm.weight")) name.replace(name.size() - 6, 6, "gamma");
    if (name.ends_with("LayerNorm.bias")) name.replace(name.size() - 4, 4, "beta");
    tensors.emplace_back(name, values.view(model.table(), {row, 1}));
  }
  tensors.emplace_back("bert.embeddings.position_ids",
                       Tensor::from(std::vector<int64_t>{0, 1, 2, 3, 4}, {1, 5}));
  write_safetensors(folder.path("model.safetensors"), tensors, {});
  expect_equal(load_model(folder.path()).values.flat(), values.flat(), "values");
  tensors.emplace_back("bert.embeddings.more", Tensor::zeros({1}));
  write_safetensors(folder.path("model.safetensors"), tensors, {});
  expect_error(ErrorKind::kFormat, "bert.embeddings.more", [&] { load_model(folder.path()); });
}

}  // namespace
}  // namespace heed::models
