// What each encoder-decoder family reads from its config.json: defaults, older keys, and what is refused; and
// small random models of each: gradients, and steps of a search against whole targets.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compare.h"
#include "models/architecture.h"
#include "models/directory/model_directory.h"
#include "models/directory/model_weights.h"
#include "models/stacks/transformer.h"
#include "models/test_models.h"
#include "nn/module_test.h"
#include "ops/elementwise.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::models {
namespace {

using Json = nlohmann::json;

/// The keys without defaults, and `more`.
Json family_config(const std::string& type, const Json& more = Json::object()) {
  Json json{{"model_type", type}, {"vocab_size", 29}};
  if (type == "t5") {
    json.update({{"d_model", 12}, {"d_kv", 5}, {"d_ff", 10}, {"num_layers", 1}, {"num_heads", 2}});
  } else {
    json.update(small_bart_like_sizes());
  }
  json.update(more);
  return json;
}

TransformerConfig read_seq2seq(const Json& json) {
  return dynamic_cast<const Transformer&>(*model_of(json)).config();
}

const std::vector<std::string>& types() {
  static const std::vector<std::string> all{"t5", "m2m_100", "bart", "mbart"};
  return all;
}

TEST(T5, TiedOutputIsScaled) {
  const TransformerConfig tied = read_seq2seq(family_config("t5"));
  EXPECT_TRUE(tied.tied_output);
  EXPECT_NEAR(tied.output_scale, 1 / std::sqrt(12.0), 1e-12);
  const TransformerConfig own = read_seq2seq(family_config("t5", {{"tie_word_embeddings", false}}));
  EXPECT_FALSE(own.tied_output);
  EXPECT_EQ(own.output_scale, 1);
  // As transformers 5 writes both.
  const Json scaled{{"tie_word_embeddings", true}, {"scale_decoder_outputs", true}};
  EXPECT_EQ(read_seq2seq(family_config("t5", scaled)).output_scale, tied.output_scale);
  const Json unscaled{{"tie_word_embeddings", true}, {"scale_decoder_outputs", false}};
  EXPECT_EQ(read_seq2seq(family_config("t5", unscaled)).output_scale, 1);
  EXPECT_TRUE(read_seq2seq(family_config("t5", unscaled)).tied_output)
      << "there are no weights beside the config";
}

// transformers 5 says that an output of its own is tied: the weights tell.
TEST(T5, OutputOfItsOwnThatIsCalledTied) {
  const auto original = model_of(family_config("t5", {{"tie_word_embeddings", false}}));
  const TestFolder folder;
  nn::ParameterArray values(original->table(), DType::kFloat32);
  nn::initialize(original->table(), values, RandomKey::from_seed(1));
  write_weights(folder.path(), original->table(), values, DType::kFloat32);
  folder.write("config.json",
               family_config("t5", {{"tie_word_embeddings", true}, {"scale_decoder_outputs", false}}).dump());
  const ModelDirectory directory = ModelDirectory::open(folder.path());
  const auto again = directory.create_model();
  EXPECT_FALSE(dynamic_cast<const Transformer&>(*again).config().tied_output);
  require_weights(*directory.weights(), again->table(), false);
}

TEST(T5, FeedForward) {
  const auto names_of = [](const Json& more) {
    const auto model = model_of(family_config("t5", more));
    std::string names;
    for (int row = 0; row < model->table().size(); ++row) {
      const std::string& name = model->table()[row].name;
      if (name.starts_with("encoder.block.0.layer.1.Dense")) names += name.substr(39) + " ";
    }
    return names;
  };
  EXPECT_EQ(names_of(Json::object()), "wi.weight wo.weight ");
  EXPECT_EQ(names_of({{"feed_forward_proj", "gated-gelu"}}), "wi_0.weight wi_1.weight wo.weight ");
  EXPECT_EQ(read_seq2seq(family_config("t5")).activation, Activation::kRelu);
  const TransformerConfig gated =
      read_seq2seq(family_config("t5", {{"feed_forward_proj", "gated-gelu"}, {"dense_act_fn", "gelu_new"}}));
  EXPECT_EQ(gated.activation, Activation::kGeluTanh);
  EXPECT_EQ(read_seq2seq(family_config("t5", {{"feed_forward_proj", "gelu"}})).activation, Activation::kGelu);
  EXPECT_EQ(read_seq2seq(family_config("t5", {{"feed_forward_proj", "gated-silu"}})).activation,
            Activation::kSwish);
}

TEST(Bart, OlderKeys) {
  const Json older{{"normalize_before", false},
                   {"normalize_embedding", true},
                   {"add_final_layer_norm", false},
                   {"static_position_embeddings", false},
                   {"extra_pos_embeddings", 2},
                   {"classif_dropout", 0.0},
                   {"task_specific_params", {{"summarization", {{"num_beams", 4}}}}},
                   {"force_bos_token_to_be_generated", true}};
  EXPECT_FALSE(read_seq2seq(family_config("bart", older)).norm_first);
  EXPECT_TRUE(read_seq2seq(family_config("mbart", {{"normalize_before", true}})).norm_first);
}

// A file may lack the bias of the output, and, without an output layer, the prefix of all names.
TEST(Bart, FilesWithoutAnOutputLayer) {
  const auto model = model_of(family_config("bart"));
  const nn::ParameterTable& table = model->table();
  nn::ParameterArray values(table, DType::kFloat32), again(table, DType::kFloat32);
  nn::initialize(table, values, RandomKey::from_seed(2));
  nn::ParameterTable shorter;
  nn::ParameterArray part = values;
  for (int row = 0; row < table.size(); ++row) {
    if (table[row].name == "final_logits_bias") continue;
    shorter.add({table[row].name.substr(std::string("model.").size()), table[row].shape, {}, {}});
  }
  part.flat() = values.flat().narrow(0, 0, shorter.elements()).clone();  // the bias is the last row
  const TestFolder folder;
  write_weights(folder.path(), shorter, part, DType::kFloat32);
  again.flat() =
      Tensor::from(std::vector<float>(static_cast<size_t>(table.elements()), 9), {table.elements()});
  read_weights(WeightFiles::open(folder.path()), table, again);
  expect_equal(again.flat().narrow(0, 0, shorter.elements()).clone(), part.flat(), "weights");
  expect_equal(again.flat().narrow(0, shorter.elements(), 29).clone(), Tensor::zeros({29}), "bias");
}

TEST(M2M100, Positions) {
  const TransformerConfig config = read_seq2seq(family_config("m2m_100"));
  EXPECT_EQ(config.first_row, 2);  // behind the padding token
  EXPECT_EQ(read_seq2seq(family_config("m2m_100", {{"pad_token_id", 3}})).first_row, 4);
  EXPECT_EQ(config.first_row, 2);
  EXPECT_TRUE(config.scale_embedding && config.norm_first && !config.output_bias);
  EXPECT_EQ(model_of(family_config("m2m_100"))->table().computed().size(), 0);
  const Transformer model(config);
  EXPECT_EQ(model.max_length(), 0) << "the table of positions grows";
  EXPECT_EQ(Transformer(read_seq2seq(family_config("bart"))).max_length(), 16);
}

TEST(T5, OutputsAreWrittenAsTheyWereRead) {
  for (const bool tied : {false, true}) {
    for (const bool scaled : {false, true}) {
      const auto model =
          model_of(family_config("t5", {{"tie_word_embeddings", tied}, {"scale_decoder_outputs", scaled}}));
      const TransformerConfig again = read_seq2seq(Json::parse(model->config_json().dump()));
      EXPECT_EQ(again.tied_output, tied) << scaled;
      EXPECT_EQ(again.output_scale != 1, scaled) << tied;
    }
  }
}

TEST(Seq2SeqFamilies, AreWrittenAsTheyWereRead) {
  for (const std::string& type : types()) {
    const auto model = model_of(family_config(type));
    const Json written = Json::parse(model->config_json().dump());
    EXPECT_EQ(written.at("model_type"), type);
    EXPECT_EQ(Json::parse(model_of(written)->config_json().dump()), written) << type;
    EXPECT_TRUE(model->beyond_hugging_face().empty());
    EXPECT_EQ(architecture_of_type(type)->name, "transformer");
  }
}

TEST(Seq2SeqFamilies, RefusedByName) {
  const std::vector<std::pair<std::string, Json>> cases{
      {"t5", {{"feed_forward_proj", "gated-foo"}}},     {"t5", {{"is_gated_act", true}}},
      {"t5", {{"dense_act_fn", "gelu_new"}}},           {"t5", {{"is_decoder", true}}},
      {"bart", {{"normalize_before", true}}},           {"bart", {{"normalize_embedding", false}}},
      {"bart", {{"static_position_embeddings", true}}}, {"mbart", {{"add_final_layer_norm", false}}},
      {"m2m_100", {{"normalize_before", false}}},       {"m2m_100", {{"decoder_attention_heads", 5}}},
      {"m2m_100", {{"expert_capacity", 64}}},
  };
  for (const auto& [type, more] : cases) {
    const std::string key = more.begin().key();
    expect_error(ErrorKind::kFormat, "'" + key + "'",
                 [&, json = family_config(type, more)] { read_seq2seq(json); });
  }
}

TEST(Seq2SeqFamilies, Gradients) {
  Sequences source, input;
  source.append(std::vector<int32_t>{5, 9, 4, 2});
  source.append(std::vector<int32_t>{6});
  input.append(std::vector<int32_t>{2, 7, 8, 8});
  input.append(std::vector<int32_t>{2, 3});
  const std::vector<int32_t> labels{7, 8, 8, 2, 3, 2};
  const std::vector<std::pair<std::string, Json>> cases{
      {"t5", {{"decoder_start_token_id", 2}}},
      {"t5", {{"feed_forward_proj", "gated-gelu"}, {"tie_word_embeddings", false}}},
      {"m2m_100", {{"activation_function", "swish"}}}};
  for (const auto& [type, more] : cases) {
    const Transformer model(read_seq2seq(family_config(type, more)));
    const nn::Module module = [&](nn::Context& c, const std::vector<Var>& x) {
      return ops::add(x[0], model.loss(c, source, input, labels, {.smoothing = 0.1, .scale = 0.7}).loss);
    };
    EXPECT_EQ(gradient_mismatch(nn::with_parameters(model.table(), module, false),
                                {TensorSource(1).normal({1}),
                                 nn::random_parameters(model.table(), DType::kFloat64, 7, 0.3).flat()},
                                {.step = 3e-4, .unit_upstream = true, .tolerance_factor = 1000}),
              "")
        << type;
  }
}

/// A step of the search for each position of a target, against all positions at once.
TEST(Seq2SeqFamilies, StepsAreTheSameAsWholeTargets) {
  const std::vector<int32_t> source{5, 9, 4, 2}, target{7, 1, 8, 8, 3};  // 1 is padding, which may be written
  for (const std::string& type : types()) {
    SCOPED_TRACE(type);
    const ModelWithWeights<Transformer> tiny(read_seq2seq(family_config(type)), 3);
    const Transformer& model = tiny.model;
    nn::Context context = tiny.context();
    Sequences sources, inputs;
    sources.append(source);
    std::vector<int32_t> input{model.start_id()};
    input.insert(input.end(), target.begin(), target.end());
    inputs.append(input);
    const Tensor whole = model.logits(context, sources, inputs);
    const auto state = model.start(context);
    const int32_t sentence = model.admit(context, *state, sources)[0];
    for (int64_t t = 0; t < static_cast<int64_t>(input.size()); ++t) {
      const Tensor step =
          model.step(context, *state, {{sentence, t == 0 ? -1 : 0, input[static_cast<size_t>(t)], {}}});
      expect_close(step.reshape({1, 29}), whole.narrow(0, t, 1).clone(), 1e-4, "position");
    }
  }
}

}  // namespace
}  // namespace heed::models
