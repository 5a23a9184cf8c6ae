// The functions of heed/norms.h against their formulas.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "heed/borrowed_memory.h"
#include "heed/error.h"
#include "heed/norms.h"

namespace heed {
namespace {

const Tensor kX = Tensor::from<double>({1, 2, 3, 6, -1, 0, 5, 4}, {2, 4});

TEST(PublicNorms, AreTheirFormulas) {
  const double epsilon = 0.5;
  const Tensor weight = Tensor::from<double>({1, 2, 3, 4}, {4}),
               bias = Tensor::from<double>({0, 1, 0, -1}, {4});
  const auto x = kX.to_vector<double>(), w = weight.to_vector<double>(), b = bias.to_vector<double>();
  const auto layer = layer_norm(kX, {weight, bias, epsilon}).to_vector<double>();
  const auto rms = rms_norm(kX, {.weight = weight, .epsilon = epsilon}).to_vector<double>();
  const auto batch = batch_norm_training(kX, {weight, bias, epsilon}).to_vector<double>();
  for (size_t row = 0; row < 2; ++row) {
    double mean = 0, square = 0;
    for (size_t n = 0; n < 4; ++n) {
      mean += x[row * 4 + n] / 4;
      square += x[row * 4 + n] * x[row * 4 + n] / 4;
    }
    for (size_t n = 0; n < 4; ++n) {
      const size_t i = row * 4 + n;
      EXPECT_NEAR(layer[i], (x[i] - mean) / std::sqrt(square - mean * mean + epsilon) * w[n] + b[n], 1e-12);
      EXPECT_NEAR(rms[i], x[i] / std::sqrt(square + epsilon) * w[n], 1e-12);
      const double column = (x[n] + x[4 + n]) / 2, half = (x[n] - x[4 + n]) / 2;
      EXPECT_NEAR(batch[i], (x[i] - column) / std::sqrt(half * half + epsilon) * w[n] + b[n], 1e-12);
    }
  }
}

TEST(PublicNorms, RunningAveragesStandForTheBatch) {
  BatchMoments running{.momentum = 0.5};
  batch_norm_training(kX, {}, &running);
  EXPECT_NEAR(running.mean.to_vector<double>()[0], 0.5 * (1 - 1) / 2, 1e-12);
  EXPECT_NEAR(running.variance.to_vector<double>()[1], 0.5 * 1 + 0.5 * 2,
              1e-12);  // of 2 and 0, divided by n - 1
  const auto y = batch_norm(kX, running).to_vector<double>();
  EXPECT_NEAR(y[1], (2 - 0.5) / std::sqrt(1.5 + 1e-5), 1e-12);
  EXPECT_NE(y[1], batch_norm_training(kX).to_vector<double>()[1]) << "the control";
}

TEST(PublicNorms, RunningAveragesAreNewTensors) {
  std::vector<double> memory(4, 0);
  const Tensor zeros = borrow({.data = memory.data(), .dtype = DType::kFloat64}, {4});
  BatchMoments running{.mean = zeros, .variance = zeros, .momentum = 0.5};
  const BatchMoments before = running;
  batch_norm_training(kX, {}, &running);
  EXPECT_EQ(memory, std::vector<double>(4, 0)) << "borrowed memory is only read";
  EXPECT_EQ(before.mean.to_vector<double>(), memory);
  EXPECT_EQ(running.mean.to_vector<double>()[1], 0.5);
  EXPECT_EQ(running.variance.to_vector<double>()[1], 0.5 * 2);
}

TEST(PublicNorms, RefuseWhatDoesNotFit) {
  EXPECT_THROW(layer_norm(Tensor()), Error);
  EXPECT_THROW(layer_norm(kX, {.weight = Tensor::from<double>({1, 2}, {2})}), Error);
  EXPECT_THROW(rms_norm(kX, {.bias = Tensor::from<double>({1, 2, 3, 4}, {4})}), Error);
  EXPECT_THROW(batch_norm_training(kX.narrow(0, 0, 1)), Error);  // one vector has no variance
}

}  // namespace
}  // namespace heed
