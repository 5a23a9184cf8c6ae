#include "models/stacks/rnn_seq2seq.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "autograd/gradient_check.h"
#include "compare.h"
#include "models/families/rnn_config.h"
#include "models/test_models.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::models {
namespace {

RnnConfig tiny_rnn() {
  RnnConfig config;
  config.vocabulary = config.source_vocabulary = 23;
  config.width = config.readout_width = 10;
  config.encoder_state_width = 6;
  config.decoder_state_width = 12;
  config.attention_width = 7;
  config.max_length = 30;
  config.padding_id = config.start_id = 22;
  return config;
}

/// Every cell with every score, one layer and two.
std::vector<RnnConfig> all_rnn_configs() {
  std::vector<RnnConfig> configs;
  for (const auto& [cell_name, cell] : recurrent_cell_names()) {
    for (const auto& [score_name, score] : attention_score_names()) {
      for (const int layers : {1, 2}) {
        RnnConfig config = tiny_rnn();
        config.cell = cell;
        config.score = score;
        config.encoder_layers = config.decoder_layers = layers;
        configs.push_back(config);
      }
    }
  }
  RnnConfig plain = tiny_rnn();  // as Bahdanau's paper has it
  plain.share_embeddings = plain.tie_output = plain.scale_embedding = false;
  plain.source_vocabulary = 31;
  plain.readout_width = 0;
  configs.push_back(plain);
  return configs;
}

std::string name_of(const RnnConfig& config) {
  return rnn_config_json(config).dump();
}

struct TinyRnn : ModelWithWeights<RnnSeq2Seq> {
  explicit TinyRnn(const RnnConfig& config, uint64_t seed = 1) : ModelWithWeights(config, seed) {}
};

std::vector<float> row_of(const Tensor& logits, int64_t row) {
  return logits.narrow(0, row, 1).to_vector<float>();
}

TEST(RnnSeq2Seq, StepsEqualTeacherForcingBitForBit) {
  for (const RnnConfig& config : all_rnn_configs()) {
    const TinyRnn tiny(config);
    nn::Context context = tiny.context();
    const Sequences source = random_sequences(5, 9, 20, 1), target = random_sequences(5, 8, 20, 2);
    const Tensor logits = tiny.model.logits(context, source, target);
    const auto state = tiny.model.start(context);
    const std::vector<int32_t> numbers = tiny.model.admit(context, *state, source);
    std::vector<int32_t> rows_before(5, -1);
    for (int32_t t = 0; t < 8; ++t) {
      std::vector<StepRow> rows;
      std::vector<int> sentences;
      for (int b = 4; b >= 0; --b) {  // in another order than the batch, and fewer and fewer
        if (static_cast<size_t>(t) >= target[b].size()) continue;
        rows.push_back({numbers[b], rows_before[b], target[b][t]});
        sentences.push_back(b);
      }
      if (rows.empty()) break;
      const Tensor step = tiny.model.step(context, *state, rows);
      for (size_t r = 0; r < rows.size(); ++r) {
        EXPECT_EQ(row_of(step, static_cast<int64_t>(r)), row_of(logits, target.offsets[sentences[r]] + t))
            << name_of(config);
        rows_before[sentences[r]] = static_cast<int32_t>(r);
      }
    }
  }
}

TEST(RnnSeq2Seq, IsBatchInvariant) {
  for (const RnnConfig& config : all_rnn_configs()) {
    const TinyRnn tiny(config);
    nn::Context context = tiny.context();
    const Sequences source = random_sequences(9, 20, 20, 3), target = random_sequences(9, 15, 20, 4);
    const Tensor together = tiny.model.logits(context, source, target);
    for (int b = 0; b < source.count(); ++b) {
      const Tensor alone = tiny.model.logits(context, one_of(source, b), one_of(target, b));
      expect_equal(together.narrow(0, target.offsets[b], alone.dim(0)).clone(), alone, name_of(config));
    }
  }
}

// The control of the two tests above: source and weights change the result.
TEST(RnnSeq2Seq, SourceAndWeightsMatter) {
  const TinyRnn tiny(tiny_rnn()), other(tiny_rnn(), 2);
  nn::Context context = tiny.context(), other_context = other.context();
  const Sequences source = random_sequences(1, 9, 20, 3), target = random_sequences(1, 8, 20, 4);
  Sequences changed = source;
  changed.ids.back() = (changed.ids.back() + 1) % 20;
  const auto logits = tiny.model.logits(context, source, target).to_vector<float>();
  EXPECT_NE(tiny.model.logits(context, changed, target).to_vector<float>(), logits);
  EXPECT_NE(other.model.logits(other_context, source, target).to_vector<float>(), logits);
}

TEST(RnnSeq2Seq, HypothesesAreIndependent) {
  RnnConfig config = tiny_rnn();
  config.cell = RecurrentCell::kLstm;
  config.decoder_layers = 2;
  const TinyRnn tiny(config);
  nn::Context context = tiny.context();
  const Sequences source = random_sequences(2, 9, 20, 5);
  const auto state = tiny.model.start(context);
  const auto numbers = tiny.model.admit(context, *state, source);
  tiny.model.release(*state, numbers[0]);
  const auto again = tiny.model.admit(context, *state, one_of(source, 0));  // where the first one was
  EXPECT_EQ(again, std::vector{numbers[0]});
  // Two hypotheses with one start, whose children are swapped; both are compared with teacher forcing
  // below.
  tiny.model.step(context, *state, {{numbers[1], -1, 22}, {again[0], -1, 22}});
  tiny.model.step(context, *state, {{again[0], 1, 3}, {again[0], 1, 4}, {numbers[1], 0, 5}});
  const Tensor last = tiny.model.step(context, *state, {{again[0], 1, 6}, {again[0], 0, 7}});
  Sequences twice, targets;
  twice.append(source[0]);
  twice.append(source[0]);
  targets.append(std::vector<int32_t>{22, 4, 6});
  targets.append(std::vector<int32_t>{22, 3, 7});
  const Tensor forced = tiny.model.logits(context, twice, targets);
  EXPECT_EQ(row_of(last, 0), row_of(forced, 2));
  EXPECT_EQ(row_of(last, 1), row_of(forced, 5));
  EXPECT_NE(row_of(last, 0), row_of(forced, 5));
}

// The whole model as a function of its parameters, with dropout and label smoothing, in float64.
TEST(RnnSeq2Seq, GradientsOfTheLoss) {
  for (RnnConfig config : all_rnn_configs()) {
    config.vocabulary = 9;
    config.source_vocabulary = config.share_embeddings ? 9 : 7;
    config.padding_id = config.start_id = 8;
    config.width = 3;
    config.readout_width = std::min<int64_t>(config.readout_width, 3);
    config.encoder_state_width = 2;
    config.decoder_state_width = 4;
    config.attention_width = 3;
    const RnnSeq2Seq model(config);
    const Sequences source = random_sequences(3, 4, 7, 6), target = random_sequences(3, 4, 8, 7);
    const auto labels = TensorSource(8).ids({target.offsets.back()}, 9).to_vector<int32_t>();
    const auto loss = [&](const std::vector<Var>& x) {
      nn::ParameterArray values, gradients;
      values.flat() = x[0].value();
      gradients.flat() = Tensor::zeros(x[0].shape(), DType::kFloat64);
      nn::Context context;
      context.table = &model.table();
      context.values = &values;
      context.training = true;
      context.random = RandomKey::from_seed(3);
      Tape* tape = x[0].tape();
      if (tape == nullptr)
        return model.loss(context, source, target, labels, {.smoothing = 0.1, .scale = 0.5}).loss;
      Tape inner;
      context.tape = &inner;
      context.gradients = &gradients;
      const Var result = model.loss(context, source, target, labels, {.smoothing = 0.1, .scale = 0.5}).loss;
      inner.backward(result);
      const Tensor dx = gradients.flat();
      return tape->record(result.value(), [x = x[0], tape, dx](const Tensor&) { tape->add_gradient(x, dx); });
    };
    const Tensor parameters = TensorSource(9).normal({model.table().elements()}, DType::kFloat64, 0.5);
    EXPECT_EQ(gradient_mismatch(loss, {parameters}, {.unit_upstream = true, .tolerance_factor = 16}), "")
        << name_of(config);
  }
}

TEST(RnnSeq2Seq, RefusesInvalidInput) {
  const TinyRnn tiny(tiny_rnn());
  nn::Context context = tiny.context();
  Sequences nothing, long_one, one = random_sequences(1, 3, 20, 1);
  nothing.append({});
  long_one.append(std::vector<int32_t>(31, 1));
  expect_error(ErrorKind::kUsage, "empty sequences", [&] { tiny.model.encode(context, nothing); });
  expect_error(ErrorKind::kUsage, "31 tokens exceeds the model's maximum length of 30",
               [&] { tiny.model.logits(context, one, long_one); });
  RnnConfig config = tiny_rnn();
  config.score = nn::AttentionScore::kDot;
  config.decoder_state_width = 13;
  expect_error(ErrorKind::kUsage, "13 is not twice 6", [&] { RnnSeq2Seq model(config); });
  config = tiny_rnn();
  config.readout_width = 9;
  expect_error(ErrorKind::kUsage, "readout width 9 must equal the embedding width 10",
               [&] { RnnSeq2Seq model(config); });
}

// ---- config.json ------------------------------------------------------------------------------------------

TEST(RnnConfig, RoundTrip) {
  for (const RnnConfig& config : all_rnn_configs()) {
    const std::string text = rnn_config_json(config).dump();
    const RnnConfig again = read_rnn_config(JsonObject::parse(text, "config.json"));
    EXPECT_EQ(rnn_config_json(again).dump(), text);
    const Architecture* architecture = architecture_of_type("heed_rnn");
    ASSERT_NE(architecture, nullptr);
    const auto model = architecture->read(JsonObject::parse(text, "config.json"));
    EXPECT_EQ(model->config_json().dump(), text);
  }
}

TEST(RnnConfig, RefusesContradictions) {
  const auto read = [](const std::string& key, const nlohmann::json& value) {
    auto json = rnn_config_json(tiny_rnn());
    json[key] = value;
    read_rnn_config(JsonObject::parse(json.dump(), "config.json"));
  };
  expect_error(ErrorKind::kFormat, "'cell_type'", [&] { read("cell_type", "gro"); });
  expect_error(ErrorKind::kFormat, "'attention_score'", [&] { read("attention_score", "cosine"); });
  expect_error(ErrorKind::kFormat, "the same as vocab_size (23)", [&] { read("decoder_vocab_size", 24); });
  expect_error(ErrorKind::kFormat, "the same as embedding_size (10)", [&] { read("readout_size", 0); });
  expect_error(ErrorKind::kFormat, "'encoder_hidden_size'", [&] { read("encoder_hidden_size", 0); });
  expect_error(ErrorKind::kFormat, "'decoder_start_token_id'", [&] { read("decoder_start_token_id", 23); });
}

}  // namespace
}  // namespace heed::models
