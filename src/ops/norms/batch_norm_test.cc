#include "ops/norms/batch_norm.h"

#include <cmath>

#include "compare.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

RunningMoments moments(const std::vector<double>& mean, const std::vector<double>& variance) {
  const Shape width{static_cast<int64_t>(mean.size())};
  return {Tensor::from(mean, width), Tensor::from(variance, width)};
}

TEST(BatchNorm, NormalizesColumnsAndMovesTheRunningMoments) {
  const Tensor x =
      Tensor::from<double>({1, 10, 3, 10, 5, 40}, {3, 2});  // means 3 and 20, variances 8/3 and 200
  const Tensor weight = Tensor::from<double>({1, 2}, {2}), bias = Tensor::from<double>({0, 5}, {2});
  RunningMoments running = moments({1, 1}, {2, 2});
  const Tensor y =
      batch_norm(x, weight, bias, running, {.epsilon = 0, .momentum = 0.25, .training = true}).value();
  const double a = std::sqrt(8.0 / 3), b = std::sqrt(200.0);
  expect_close(y, Tensor::from<double>({-2 / a, 5 - 20 / b, 0, 5 - 20 / b, 2 / a, 5 + 40 / b}, {3, 2}), 1e-14,
               "y");
  expect_close(running.mean, Tensor::from<double>({1.5, 5.75}, {2}), 1e-15, "mean");
  expect_close(running.variance, Tensor::from<double>({1.5 + 1, 1.5 + 75}, {2}), 1e-13, "variance, unbiased");
}

TEST(BatchNorm, EvaluationUsesTheRunningMomentsAndLeavesThem) {
  RunningMoments running = moments({1, 2}, {4, 9});
  const Tensor ones = Tensor::from<double>({1, 1}, {2}), zeros = Tensor::zeros({2}, DType::kFloat64);
  const Tensor x = Tensor::from<double>({5, 5}, {1, 2});  // one row is enough
  expect_close(batch_norm(x, ones, zeros, running, {.epsilon = 0}).value(),
               Tensor::from<double>({2, 1}, {1, 2}), 1e-15, "y");
  expect_equal(running.mean, Tensor::from<double>({1, 2}, {2}), "mean");
  expect_equal(running.variance, Tensor::from<double>({4, 9}, {2}), "variance");
}

// Unlike layer normalization, batch normalization depends on the other rows.
TEST(BatchNorm, RowsDependOnTheBatch) {
  const Tensor ones = Tensor::from<double>({1}, {1}), zeros = Tensor::zeros({1}, DType::kFloat64);
  RunningMoments running = moments({0}, {1});
  const auto first = [&](double other) {
    return batch_norm(Tensor::from<double>({1, other}, {2, 1}), ones, zeros, running, {.training = true})
        .value()
        .data<double>()[0];
  };
  EXPECT_GT(std::abs(first(3) - first(-3)), 1);
}

TEST(BatchNorm, Errors) {
  RunningMoments running = moments({0, 0}, {1, 1});
  const Tensor two = Tensor::zeros({2}, DType::kFloat64);
  const auto x = [](int64_t rows, int64_t columns) {
    return Tensor::zeros({rows, columns}, DType::kFloat64);
  };
  expect_error(ErrorKind::kShape, "x (4, 3) needs weight, bias and running moments of (3), not (2)",
               [&] { batch_norm(x(4, 3), two, two, running); });
  expect_error(ErrorKind::kShape, "at least two rows, not x (1, 2)",
               [&] { batch_norm(x(1, 2), two, two, running, {.training = true}); });
}

GRADIENT_CHECK(batch_norm, TrainingAndEvaluation) {
  for (const bool training : {false, true}) {
    for (const int64_t columns : {1, 3, 17}) {
      TensorSource source(static_cast<uint64_t>(columns));
      const auto normalise = [&](const std::vector<Var>& x) {
        RunningMoments running = moments(std::vector<double>(static_cast<size_t>(columns), 0.3),
                                         std::vector<double>(static_cast<size_t>(columns), 2));
        return batch_norm(x[0], x[1], x[2], running, {.epsilon = 0.1, .training = training});
      };
      expect_gradients(normalise,
                       {source.normal({2, 3, columns}), source.normal({columns}), source.normal({columns})});
    }
  }
}

}  // namespace
}  // namespace heed::ops
