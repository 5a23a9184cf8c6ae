#include "inspect/attribution/attribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "inspect/attribution/attribution_table.h"
#include "inspect/attribution/explained.h"
#include "inspect/attribution/gradient.h"
#include "inspect/attribution/rollout.h"
#include "inspect/draw/test_pictures.h"
#include "inspect/json/attribution_json.h"
#include "inspect/reading/model_to_inspect.h"
#include "inspect/test_inspected_models.h"
#include "paths.h"

namespace heed {
namespace {

Attribution attribution_of(const TestInspected& model, const AttributionOptions& options, int threads = 2) {
  ThreadPool pool(threads);
  return attribute(model.view(), small_reading(), options, pool);
}

/// Moves the embedding of one token along a direction.
class MovedEmbedding : public nn::StateHook {
 public:
  MovedEmbedding(Stack stack, int64_t token, double factor) : stack_(stack), token_(token), factor_(factor) {}
  bool wants(nn::StateKind kind) const override { return kind == nn::StateKind::kTokens; }
  Var pass(const nn::StateId& id, const Var& state) override {
    if (id.kind != nn::StateKind::kTokens || id.stack != stack_) return state;
    Tensor moved = state.value().clone();
    float* row = moved.data<float>() + token_ * moved.dim(1);
    for (int64_t i = 0; i < moved.dim(1); ++i) row[i] = static_cast<float>(row[i] * factor_);
    return moved;
  }

 private:
  Stack stack_;
  int64_t token_;
  double factor_;
};

double moved_value(const TestInspected& model, const Explained& explained, MovedEmbedding hook) {
  const InspectedModel view = model.view();
  const DifferentiableModel differentiable(view);
  nn::Context context = differentiable.context();
  context.states = &hook;
  return predicted_values(*model.loaded.model, context, explained, copies_of(explained, 1))
      .value()
      .to_vector<double>()[0];
}

TokenAttribution gradient_of(const TestInspected& model, const Explained& explained) {
  const InspectedModel view = model.view();
  return gradient_times_input(DifferentiableModel(view), explained);
}

/// The derivative of f((1 + h) x_j) by h at 0 is x_j . df/dx_j. Central differences with h and h / 2,
/// extrapolated (Richardson), have an error of order h^4, and of 1e-6 / h from float32.
TEST(Attribution, GradientTimesInputEqualsFiniteDifferences) {
  for (const TestInspected& model : {small_transformer(false), small_transformer(true), small_rnn()}) {
    const Explained explained = explained_token(small_reading(), 2, 17);
    const TokenAttribution found = gradient_of(model, explained);
    const auto central = [&](Stack stack, int64_t token, double step) {
      return (moved_value(model, explained, {stack, token, 1 + step}) -
              moved_value(model, explained, {stack, token, 1 - step})) /
             (2 * step);
    };
    const auto difference = [&](Stack stack, int64_t token) {
      constexpr double kStep = 0.01;
      return (4 * central(stack, token, kStep / 2) - central(stack, token, kStep)) / 3;
    };
    ASSERT_EQ(found.values.size(), 6u);
    double largest = 0;
    for (size_t n = 0; n < 6; ++n) {
      const bool source = n < 4;
      const double expected =
          difference(source ? Stack::kEncoder : Stack::kDecoder, static_cast<int64_t>(source ? n : n - 3));
      EXPECT_NEAR(found.values[n], expected, 2e-3 * (1 + std::abs(expected))) << n;
      largest = std::max(largest, std::abs(expected));
    }
    EXPECT_GT(largest, 0.05) << "the prediction depends on what is read";
  }
}

TEST(Attribution, IntegratedGradientsSumToTheDifference) {
  for (const TestInspected& model : {small_transformer(false), small_transformer(true), small_rnn()}) {
    for (const char* baseline : {"zero", "9"}) {
      const Attribution found = attribution_of(model, {.baseline = baseline});
      ASSERT_EQ(found.tokens.size(), 3u);
      for (const TokenAttribution& each : found.tokens) {
        EXPECT_EQ(each.values.size(), 4u + static_cast<size_t>(each.token));
        EXPECT_NEAR(each.sum, *each.difference, 1e-5 * (1 + std::abs(*each.difference)));
        EXPECT_EQ(each.values[3], 0) << "special tokens stay";
      }
    }
  }
}

/// The values are integrals along the path: those of the midpoint rule with many nodes.
TEST(Attribution, IntegratedGradientsAreIntegrals) {
  for (const TestInspected& model : {small_transformer(false), small_transformer(true), small_rnn()}) {
    const InspectedModel view = model.view();
    const DifferentiableModel differentiable(view);
    const Reading reading = small_reading();
    const EmbeddingPath path(differentiable, reading, {.source_id = 9, .target_id = 9});
    constexpr int kNodes = 400;
    std::vector<double> positions;
    for (int n = 0; n < kNodes; ++n) positions.push_back((n + 0.5) / kNodes);
    const Attribution found = attribution_of(model, {.baseline = "9", .tolerance = 0.0005});
    for (size_t token = 0; token < 3; ++token) {
      const auto products = path.derivatives(positions, explained_token(reading, token, -1));
      double total = 0;
      for (const float value : found.tokens[token].values) total += std::abs(static_cast<double>(value));
      for (size_t n = 0; n < found.tokens[token].values.size(); ++n) {
        const size_t column = n < 4 ? n : n + 1;  // after the start token
        double integral = 0;
        for (const std::vector<double>& each : products) integral += each[column] / kNodes;
        EXPECT_NEAR(found.tokens[token].values[n], integral, 0.01 * total) << token << ' ' << n;
      }
    }
  }
}

/// f at the ends of the path, with the ids of the baseline in place of the others.
TEST(Attribution, TheDifferenceIsToTheBaseline) {
  const TestInspected model = small_transformer(false);
  const auto value_of = [&](const std::vector<int32_t>& source, const std::vector<int32_t>& target) {
    Explained explained = explained_token(small_reading(), 2, -1);
    explained.source_ids = source;
    explained.decoder_ids = target;
    const InspectedModel view = model.view();
    const DifferentiableModel differentiable(view);
    nn::Context context = differentiable.context();
    return predicted_values(*model.loaded.model, context, explained, copies_of(explained, 1))
        .value()
        .to_vector<double>()[0];
  };
  const Attribution found = attribution_of(model, {.baseline = "9"});
  const double whole = value_of({3, 7, 11, 0}, {29, 5, 8}), begin = value_of({9, 9, 9, 0}, {29, 9, 9});
  EXPECT_NEAR(found.tokens[2].log_probability, whole, 1e-5);
  EXPECT_NEAR(*found.tokens[2].difference, whole - begin, 1e-5);
}

TEST(Attribution, IsIndependentOfThreadsAndOtherTokens) {
  const TestInspected model = small_transformer(true);
  for (const AttributionMethod method : {AttributionMethod::kIntegrated, AttributionMethod::kGradient,
                                         AttributionMethod::kLeaveOut, AttributionMethod::kRollout}) {
    const Attribution all = attribution_of(model, {.method = method}, 1);
    EXPECT_EQ(attribution_to_json(all), attribution_to_json(attribution_of(model, {.method = method}, 3)));
    const Attribution one = attribution_of(model, {.token = "2", .method = method}, 2);
    EXPECT_EQ(one.tokens[0].values, all.tokens[1].values);
    EXPECT_EQ(one.tokens[0].token, 1);
  }
}

TEST(Attribution, OfTwoTokensIsTheDifferenceOfBoth) {
  const TestInspected model = small_transformer(false);
  const Attribution both =
      attribution_of(model, {.token = "3", .instead = "17", .method = AttributionMethod::kGradient});
  const TokenAttribution first = gradient_of(model, explained_token(small_reading(), 2, -1));
  Reading other = small_reading();
  other.target_ids[2] = 17;
  const TokenAttribution second = gradient_of(model, explained_token(other, 2, -1));
  for (size_t n = 0; n < first.values.size(); ++n) {
    EXPECT_NEAR(both.tokens[0].values[n], first.values[n] - second.values[n], 1e-4);
  }
  EXPECT_EQ(both.tokens[0].instead, "\u258117");
}

TEST(Attribution, LeaveOutIsTheLossWithoutTheToken) {
  const TestInspected model = small_transformer(false);
  const Attribution found = attribution_of(model, {.token = "3", .method = AttributionMethod::kLeaveOut});
  Reading rest = small_reading();
  rest.source_ids = {3, 11, 0};
  rest.source_special.pop_back();
  ThreadPool pool(1);
  const auto without =
      attribute(model.view(), rest, {.token = "3", .method = AttributionMethod::kGradient}, pool);
  const TokenAttribution& each = found.tokens[0];
  EXPECT_NEAR(each.values[1], each.log_probability - without.tokens[0].log_probability, 1e-5);
  EXPECT_GT(std::abs(each.values[1]), 1e-3);
  EXPECT_EQ(each.values[3], 0) << "special tokens stay";
}

/// A mark of a space before a digit, and the bytes of a character but the last, have an empty span.
TEST(Attribution, OnlyTokensAroundATextAreSpecial) {
  const ModelToInspect loaded(models::load_model(source_folder() + "/models/de-en"));
  const Reading reading = read_text(loaded.view(), "5 Hunde kosten 3 \u20AC.", "");
  ASSERT_EQ(std::ranges::count(reading.encoder_tokens, "<0xE2>"), 1);
  std::vector<bool> special(reading.encoder_tokens.size(), false);
  special.back() = true;
  EXPECT_EQ(reading.source_special, special);
}

TEST(Attribution, RolloutSharesSumToOne) {
  const TestInspected model = small_transformer(false);
  const Rollout rollout = attention_rollout(model.view(), small_reading());
  for (size_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (size_t n = 0; n < 4; ++n) sum += rollout.encoder[row * 4 + n];
    for (size_t n = 0; n < 3; ++n) sum += rollout.decoder[row * 3 + n];
    EXPECT_NEAR(sum, 1, 1e-5);
    for (size_t n = row + 1; n < 3; ++n) EXPECT_EQ(rollout.decoder[row * 3 + n], 0) << "later tokens";
  }
  EXPECT_THROW(attention_rollout(small_rnn().view(), small_reading()), Error);
}

TEST(Attribution, RolloutOfALanguageModel) {
  const TestInspected model = small_language_model();
  const Reading reading = reading_of_ids(*model.loaded.model, {3, 7, 11}, {4, 5});
  const Rollout rollout = attention_rollout(model.view(), reading);
  EXPECT_TRUE(rollout.encoder.empty());
  const size_t tokens = rollout.decoder_tokens;
  ASSERT_EQ(rollout.decoder.size(), tokens * tokens);
  for (size_t row = 0; row < tokens; ++row) {
    const auto first = rollout.decoder.begin() + static_cast<std::ptrdiff_t>(row * tokens);
    EXPECT_NEAR(std::accumulate(first, first + static_cast<std::ptrdiff_t>(tokens), 0.0), 1, 1e-5);
  }
}

TEST(Attribution, WrongOptionsAreErrors) {
  const TestInspected model = small_transformer(false);
  const auto error_of = [&](const AttributionOptions& options) {
    try {
      attribution_of(model, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(error_of({.token = "4"}).find("number from 1 to 3"), std::string::npos);
  EXPECT_NE(error_of({.instead = "7"}).find("one token of 3"), std::string::npos);
  EXPECT_NE(error_of({.token = "1", .instead = "1 2"}).find("'1 2'"), std::string::npos);
  EXPECT_NE(error_of({.token = "1", .instead = "5"}).find("the prediction itself"), std::string::npos);
  EXPECT_NE(error_of({.method = AttributionMethod::kGradient, .baseline = "zero"}).find("baseline"),
            std::string::npos);
  EXPECT_NE(error_of({.baseline = "1 2"}).find("'1 2'"), std::string::npos);
  EXPECT_NE(error_of({.tolerance = 0}).find("tolerance"), std::string::npos);
}

TEST(Attribution, TableAndPicture) {
  const TestInspected model = small_transformer(false);
  const Attribution all = attribution_of(model, {.method = AttributionMethod::kGradient});
  EXPECT_NE(attribution_table(all, 80, TerminalColours::kNone).find("sum"), std::string::npos);
  const Attribution one = attribution_of(model, {.token = "2", .method = AttributionMethod::kGradient});
  EXPECT_NE(attribution_table(one, 80, TerminalColours::kNone).find("what speaks for"), std::string::npos);
  EXPECT_NE(attribution_table(one, 80, TerminalColours::kNone).find("  sum  "), std::string::npos);
  const Attribution choice =
      attribution_of(model, {.token = "2", .instead = "7", .method = AttributionMethod::kGradient});
  EXPECT_NE(attribution_table(choice, 80, TerminalColours::kNone).find("\u201D and not \u201C"),
            std::string::npos);
  const Picture picture = attribution_picture(all);
  EXPECT_TRUE(testing::faults(picture).empty());
  EXPECT_TRUE(testing::words(picture).contains("not read"));
  EXPECT_FALSE(testing::words(picture).contains("\u2212\u221E"));
  const auto json = nlohmann::json::parse(attribution_to_json(all));
  EXPECT_EQ(json["attributions"][2].size(), 6u);
  EXPECT_TRUE(json["difference"][0].is_null());
}

}  // namespace
}  // namespace heed
