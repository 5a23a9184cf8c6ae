#include "inspect/json/trace_pack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "inspect/trace/test_traces.h"
#include "models/head_names.h"
#include "tensor/half.h"

namespace heed {
namespace {

/// Two queries, three keys, vectors of two numbers.
Trace detailed_trace() {
  Trace trace;
  trace.source_tokens = {"a", "b", "</s>"};
  trace.target_tokens = {"x", "</s>"};
  HeadDetail detail{2, 0.5F, {1, -2, 0, 4}, {2, 1, -1, 3, 0, 0.5F}, {1, 0, 0, 1, -3, 0.25F}, {}};
  AttentionMatrix matrix{2, 3, {}};
  for (int query = 0; query < 2; ++query) {
    std::vector<float> row;
    float sum = 0;
    for (int key = 0; key < 3; ++key) {
      row.push_back(0.5F * (detail.query[2 * query] * detail.key[2 * key] +
                            detail.query[2 * query + 1] * detail.key[2 * key + 1]));
      sum += std::exp(row.back());
    }
    for (const float score : row) matrix.weights.push_back(std::exp(score) / sum);
    detail.scores.insert(detail.scores.end(), row.begin(), row.end());
  }
  trace.cross = {{matrix}};
  trace.details[static_cast<size_t>(Stack::kCross)] = {{detail}};
  return trace;
}

TEST(TracePack, StoresWeightsInFloat16) {
  const Trace trace = testing::make_trace(testing::make_tokens(20), testing::make_tokens(17), 2, 3);
  const auto json = nlohmann::json::parse(pack_trace(trace));
  for (const Stack stack : kStacks) {
    const auto& head = json.at("packed").at(stack_name(stack)).at(1).at(2);
    const auto halves = testing::from_base64<uint16_t>(head.at("weights"));
    const AttentionMatrix& matrix = stack_of(trace, stack)[1][2];
    ASSERT_EQ(halves.size(), matrix.weights.size());
    for (size_t n = 0; n < halves.size(); ++n) {
      EXPECT_NEAR(half_to_float(halves[n]), matrix.weights[n], matrix.weights[n] / 2048 + 3e-8F);
    }
    EXPECT_FALSE(head.contains("vectors"));
  }
}

TEST(TracePack, ScoresComeBackFromWeights) {
  const Trace trace = detailed_trace();
  const auto head = nlohmann::json::parse(pack_trace(trace)).at("packed").at("cross").at(0).at(0);
  const HeadDetail& detail = trace.details[static_cast<size_t>(Stack::kCross)][0][0];
  const auto rows = testing::from_base64<float>(head.at("rows"));
  ASSERT_EQ(rows.size(), 2u + 2 + 3 + 3);
  for (size_t n = 0; n < 6; ++n) {
    EXPECT_NEAR(std::log(trace.cross[0][0].weights[n]) + rows[n / 3], detail.scores[n], 1e-5F);
  }
  const auto vectors = testing::from_base64<int8_t>(head.at("vectors"));
  ASSERT_EQ(vectors.size(), 16u);
  EXPECT_NEAR(vectors[1] * rows[2], -2, 1e-6);               // the query's largest number is exact
  EXPECT_NEAR(vectors[0] * rows[2], 1, rows[2] / 2 + 1e-6);  // others are within half a step
  EXPECT_NEAR(vectors[14] * rows[9], -3, 1e-6);              // the last value
}

TEST(TracePack, SkipsUnselectedHeads) {
  Trace trace = testing::make_trace({"a", "</s>"}, {"x", "</s>"}, 2, 2);
  trace = select(trace, parse_selection("cross", "2", "1"));
  const auto packed = nlohmann::json::parse(pack_trace(trace)).at("packed");
  EXPECT_EQ(packed.at("encoder").size(), 0u);
  EXPECT_EQ(packed.at("cross").at(0).size(), 0u);
  EXPECT_TRUE(packed.at("cross").at(1).at(0).is_object());
  EXPECT_TRUE(packed.at("cross").at(1).at(1).is_null());
}

}  // namespace
}  // namespace heed
