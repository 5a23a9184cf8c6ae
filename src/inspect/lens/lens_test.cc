#include "inspect/lens/lens.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "inspect/draw/test_pictures.h"
#include "inspect/json/lens_json.h"
#include "inspect/lens/lens_table.h"
#include "inspect/test_inspected_models.h"
#include "test_folder.h"

namespace heed {
namespace {

constexpr int kThreads = 2;

std::vector<std::string> parts_of(const LensStack& stack) {
  std::vector<std::string> parts;
  for (const LensState& state : stack.states) parts.push_back(std::to_string(state.layer) + state.part);
  return parts;
}

TEST(Lens, HasEverySubLayer) {
  const TestInspected model = small_transformer(true);
  ThreadPool pool(kThreads);
  const Lens lens = look_through(model.view(), small_reading(), 3, pool);
  EXPECT_EQ(parts_of(lens.encoder),
            (std::vector<std::string>{"0embedding", "1self-attention", "1feed-forward", "2self-attention",
                                      "2feed-forward", "2output"}));
  EXPECT_EQ(parts_of(lens.decoder),
            (std::vector<std::string>{"0embedding", "1self-attention", "1cross-attention", "1feed-forward",
                                      "2self-attention", "2cross-attention", "2feed-forward", "2output"}));
  EXPECT_EQ(lens.encoder.steps(), (std::vector<size_t>{0, 2, 5}));
  EXPECT_EQ(lens.decoder.steps(), (std::vector<size_t>{0, 3, 7}));
  EXPECT_EQ(lens.expected_tokens, small_reading().target_tokens);
}

/// Pre-norm: what a sub-layer adds is the difference of two states, up to the rounding of their elements.
TEST(Lens, NormsAreThoseOfTheVectors) {
  const TestInspected model = small_transformer(true);
  ThreadPool pool(kThreads);
  const Lens lens = look_through(model.view(), small_reading(), 0, pool);
  for (size_t n = 1; n + 1 < lens.decoder.states.size(); ++n) {
    const LensState &before = lens.decoder.states[n - 1], &after = lens.decoder.states[n];
    for (size_t token = 0; token < 3; ++token) {
      double sum = 0, added = 0;
      for (size_t i = token * 16; i < (token + 1) * 16; ++i) {
        sum += std::pow(static_cast<double>(after.values[i]), 2);
        added += std::pow(static_cast<double>(after.values[i]) - static_cast<double>(before.values[i]), 2);
      }
      EXPECT_NEAR(after.norms[token], std::sqrt(sum), 1e-5 * std::sqrt(sum));
      EXPECT_NEAR(after.added_norms[token], std::sqrt(added), 1e-5 * std::sqrt(sum));
    }
  }
}

TEST(Lens, LastPredictionsAreTheModels) {
  for (const bool norm_first : {false, true}) {
    const TestInspected model = small_transformer(norm_first);
    ThreadPool pool(kThreads);
    const Reading reading = small_reading();
    const Lens lens = look_through(model.view(), reading, 30, pool);
    nn::Context context = model.loaded.context();
    const Tensor logits =
        model.loaded.seq2seq().logits(context, reading.input().source, reading.input().target);
    for (const size_t last : {lens.decoder.states.size() - 1, lens.decoder.states.size() - 2}) {
      const LensState& state = lens.decoder.states[last];
      for (int64_t t = 0; t < 3; ++t) {
        const float* row = logits.data<float>() + t * 30;
        double sum = 0, total = 0;
        for (int64_t n = 0; n < 30; ++n) sum += std::exp(static_cast<double>(row[n]));
        for (const TokenProbability& each : state.predictions[t]) {
          EXPECT_NEAR(each.probability,
                      std::exp(static_cast<double>(row[std::stoi(each.token.substr(3))])) / sum, 1e-5);
          total += each.probability;
        }
        EXPECT_NEAR(total, 1, 1e-5);
      }
    }
    // Negative control: earlier states predict something else.
    EXPECT_GT(std::abs(lens.decoder.states[0].expected[0] - lens.decoder.states.back().expected[0]), 1e-4);
  }
}

TEST(Lens, TheRecorderDoesNotChangeTheStates) {
  const TestInspected model = small_transformer(false);
  ThreadPool one(1), two(2);
  const Reading reading = small_reading();
  EXPECT_EQ(lens_to_json(look_through(model.view(), reading, 4, one), {.details = true}),
            lens_to_json(look_through(model.view(), reading, 4, two), {.details = true}));
  nn::Context context = model.loaded.context();
  const Tensor hidden = run_stacks(*model.loaded.model, context, reading.input()).value();
  EXPECT_EQ(look_through(model.view(), reading, 4, one).decoder.states.back().values,
            hidden.to_vector<float>());
}

TEST(Lens, OfARecurrentNetwork) {
  const TestInspected model = small_rnn();
  ThreadPool pool(kThreads);
  const Lens lens = look_through(model.view(), small_reading(), 2, pool);
  EXPECT_EQ(parts_of(lens.encoder), (std::vector<std::string>{"0embedding", "1recurrence", "1output"}));
  EXPECT_EQ(parts_of(lens.decoder),
            (std::vector<std::string>{"0embedding", "1recurrence", "2recurrence", "2output"}));
  EXPECT_TRUE(lens.decoder.states[0].predictions.empty());
  EXPECT_EQ(lens.decoder.states[3].predictions.size(), 3u);
  EXPECT_EQ(lens.decoder.states[3].width, 12);
  for (const LensStack& stack : {lens.encoder, lens.decoder}) {
    EXPECT_NO_THROW(lens_table(lens, stack, LensValue::kNorms, 80));
    expect_error(ErrorKind::kUsage, "add nothing", [&] { lens_table(lens, stack, LensValue::kAdded, 80); });
    expect_error(ErrorKind::kUsage, "add nothing", [&] { lens_picture(lens, stack, LensValue::kAdded); });
  }
}

TEST(Lens, JsonHasTheVectorsWithDetailsOnly) {
  const TestInspected model = small_transformer(false);
  ThreadPool pool(kThreads);
  const Lens lens = look_through(model.view(), small_reading(), 2, pool);
  const auto json = nlohmann::json::parse(lens_to_json(lens, {.details = true}));
  ASSERT_EQ(json["hidden"]["decoder"].size(), 3u);
  EXPECT_EQ(json["hidden"]["decoder"][1][2].size(), 16u);
  EXPECT_EQ(json["hidden"]["decoder"][1][2][3].get<float>(), lens.decoder.states[3].values[2 * 16 + 3]);
  EXPECT_EQ(json["predictions"].size(), 3u);
  EXPECT_EQ(json["predictions"][2][1].size(), 2u);
  EXPECT_FALSE(nlohmann::json::parse(lens_to_json(lens, {})).contains("hidden"));
}

/// Pre-norm: each state is the sum of the state before and what the sub-layer adds.
TEST(Lens, StatesAreMadeOfTheirParts) {
  const TestInspected model = small_transformer(true);
  ThreadPool pool(kThreads);
  const Lens lens = look_through(model.view(), small_reading(), 2, pool, true);
  const std::vector<LensState>& states = lens.decoder.states;
  ASSERT_EQ(lens.decoder.embeddings.size(), 3u * 16);
  for (size_t n = 1; n + 1 < states.size(); ++n) {
    ASSERT_EQ(states[n].added.size(), states[n].values.size());
    EXPECT_EQ(states[n].heads.empty(), states[n].part == "feed-forward");
    for (size_t i = 0; i < states[n].values.size(); ++i) {
      EXPECT_NEAR(states[n].values[i], states[n - 1].values[i] + states[n].added[i], 1e-5);
    }
  }
  const auto json =
      nlohmann::json::parse(lens_to_json(lens, {.encoder_position = 1, .decoder_position = 2}))["parts"];
  EXPECT_EQ(json["encoder"]["position"], 1);
  const auto& last = json["decoder"]["states"].back();
  EXPECT_EQ(json["decoder"]["ids"], lens.decoder.ids);
  EXPECT_EQ(last["vector"][3].get<float>(), states.back().values[16 + 3]);
  EXPECT_FLOAT_EQ(last["log_sum"].get<float>(), states.back().log_sums[1]);
  EXPECT_THROW(lens_to_json(lens, {.decoder_position = 4}), Error);
  // Without, nothing is kept.
  EXPECT_TRUE(look_through(model.view(), small_reading(), 2, pool).decoder.states[1].added.empty());
}

TEST(Lens, Tables) {
  const TestInspected model = small_transformer(false);
  ThreadPool pool(kThreads);
  const Lens lens = look_through(model.view(), small_reading(), 2, pool);
  EXPECT_THROW(lens_table(lens, lens.encoder, LensValue::kPredictions, 80), Error);
  EXPECT_THROW(lens_table(lens, lens.decoder, LensValue::kNorms, 30), Error);
  EXPECT_NE(lens_table(lens, lens.decoder, LensValue::kPredictions, 80).find("2 cross-attention"),
            std::string::npos);
  EXPECT_NE(lens_token_table(lens, lens.decoder, 1).find("expected"), std::string::npos);
  EXPECT_GT(lens_picture(lens, lens.encoder, LensValue::kAdded).width, 0);
  const Picture picture = lens_picture(lens, lens.decoder, LensValue::kPredictions);
  EXPECT_TRUE(testing::faults(picture).empty());
  EXPECT_FALSE(picture.texts().at(0).elided) << "the name of the scale";
}

/// Of the last state of a token, whose predictions are all of the vocabulary.
TEST(Lens, SumsAtOtherTemperatures) {
  const TestInspected model = small_transformer(false);
  ThreadPool pool(kThreads);
  const Lens lens = look_through(model.view(), small_reading(), 1000, pool, true);
  const std::vector<double> temperatures{0.25, 1, 2};
  const std::vector<float> sums = log_sums_at(temperatures, model.view(), lens, 2);
  ASSERT_EQ(sums.size(), temperatures.size());
  for (size_t n = 0; n < sums.size(); ++n) {
    double sum = 0;
    for (const TokenProbability& each : lens.decoder.states.back().predictions[1])
      sum += std::pow(each.probability, 1 / temperatures[n]);
    EXPECT_NEAR(sums[n], std::log(sum), 1e-4) << temperatures[n];
  }
  const auto json = nlohmann::json::parse(
      lens_to_json(lens, {.encoder_position = 1, .decoder_position = 2, .log_sums = sums}))["parts"];
  EXPECT_EQ(json["decoder"]["log_sums"].get<std::vector<float>>(), sums);
  EXPECT_FALSE(json["encoder"].contains("log_sums"));
  for (const int position : {0, 4})
    EXPECT_TRUE(log_sums_at(temperatures, model.view(), lens, position).empty());
  EXPECT_TRUE(log_sums_at(temperatures, model.view(), look_through(model.view(), small_reading(), 0, pool), 2)
                  .empty());
}

/// As of a classifier: an encoder without predictions, and no decoder.
TEST(LensTables, AreOfStacksByName) {
  Lens lens;
  lens.encoder.tokens = {"a"};
  lens.encoder.states.emplace_back();
  EXPECT_EQ(&stack_named(lens, "encoder"), &lens.encoder);
  EXPECT_EQ(&stack_named(lens, ""), &predicting_stack(lens));
  EXPECT_EQ(lens_value_named(lens.encoder, "predictions"), LensValue::kNorms);
  EXPECT_EQ(lens_value_named(lens.encoder, "added"), LensValue::kAdded);
  EXPECT_THROW(stack_named(lens, "decoder"), Error);
  EXPECT_THROW(stack_named(lens, "cross"), Error);
  EXPECT_THROW(lens_value_named(lens.encoder, "weights"), Error);
}

}  // namespace
}  // namespace heed
