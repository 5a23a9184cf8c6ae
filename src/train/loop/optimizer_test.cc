#include "train/loop/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace heed::train {
namespace {

/// The weight of one parameter after a first step with this gradient and four with none.
std::vector<float> trained(float gradient, double clip) {
  nn::ParameterTable table;
  table.add({"a", {1}, {}, {}});
  Recipe recipe;
  recipe.clip_norm = clip;
  Reducer alone;
  Optimizer optimizer(table, recipe, alone);
  ThreadPool pool(1);
  nn::ParameterArray values(table, DType::kFloat32), gradients(table, DType::kFloat32), none;
  values.flat().data<float>()[0] = 0;
  std::vector<float> path;
  for (int64_t n = 1; n <= 5; ++n) {
    gradients.flat().data<float>()[0] = n == 1 ? gradient : 0;
    const double scale = optimizer.clip(optimizer.norm(pool, gradients));
    optimizer.update(pool, {n, values, gradients, scale, none});
    path.push_back(values.flat().data<float>()[0]);
  }
  return path;
}

// Adam's steps do not depend on the size of the gradients, up to the largest ones that there are.
TEST(Optimizer, HugeGradientsTakeOrdinarySteps) {
  for (const double clip : {0.0, 1.0}) {
    const std::vector<float> expected = trained(1, clip);
    ASSERT_NE(expected[0], 0);
    for (const float gradient : {1e10F, 1e18F, 1e20F, 1e25F, 3e38F}) {
      const std::vector<float> found = trained(gradient, clip);
      for (size_t n = 0; n < found.size(); ++n) {
        EXPECT_NEAR(found[n] / expected[n], 1, 1e-5) << gradient << ", clip " << clip << ", step " << n + 1;
      }
    }
  }
}

TEST(Optimizer, TheAverageOfEqualWeightsStaysThere) {
  nn::ParameterTable table;
  table.add({"a", {5}, {}, {}});
  Recipe recipe;
  recipe.learning_rate = 0;
  recipe.decay = 0.9995;
  Reducer alone;
  Optimizer optimizer(table, recipe, alone);
  ThreadPool pool(1);
  nn::ParameterArray values(table, DType::kFloat32), gradients(table, DType::kFloat32);
  const std::vector<float> weights{0.1F, -0.7F, 3.3F, 1e-4F, 0};
  std::ranges::copy(weights, values.flat().data<float>());
  nn::ParameterArray average(table, DType::kFloat32);
  average.flat() = values.flat().clone();
  for (int64_t n = 1; n <= 20'000; ++n) optimizer.update(pool, {n, values, gradients, 1, average});
  const float* found = average.flat().data<float>();
  EXPECT_EQ(std::vector<float>(found, found + weights.size()), weights);
}

}  // namespace
}  // namespace heed::train
