#include "ops/norms/rms_norm.h"

#include <cmath>

#include "compare.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

TEST(RmsNorm, GivesRootMeanSquareOne) {
  const Tensor x = Tensor::from<double>({1, 2, 2, 4, 0, 0, 0, 0}, {2, 4});
  const Tensor weight = Tensor::from<double>({1, 1, 10, 1}, {4});
  const double rms = std::sqrt(25.0 / 4);
  expect_close(rms_norm(x, weight, {.epsilon = 0}).value().narrow(0, 0, 1).clone(),
               Tensor::from<double>({1 / rms, 2 / rms, 20 / rms, 4 / rms}, {1, 4}), 1e-15, "y");
  expect_equal(rms_norm(x, weight).value().narrow(0, 1, 1).clone(), Tensor::zeros({1, 4}, DType::kFloat64),
               "zeros");
}

TEST(RmsNorm, OffsetIsAddedToTheWeight) {
  const Tensor x = TensorSource(1).normal({3, 4}), weight = Tensor::from<double>({0, -1, 2, 0.5}, {4});
  const Tensor more = Tensor::from<double>({1, 0, 3, 1.5}, {4});
  expect_equal(rms_norm(x, weight, {.weight_offset = 1}).value(), rms_norm(x, more).value(), "1 + weight");
}

/// Every head is normalized by itself, and what belongs to no part stays.
TEST(RmsNorm, OfHeads) {
  const Tensor x = TensorSource(2).normal({2, 9}), weight = TensorSource(3).normal({2}),
               other = TensorSource(4).normal({3});
  const Tensor y = rms_norm_heads(x, {{0, 4, weight}, {5, 3, other}}).value();
  for (const int64_t row : {0, 1}) {
    const auto columns = [&](const Tensor& all, int64_t begin, int64_t width) {
      return all.narrow(0, row, 1).narrow(1, begin, width).clone();
    };
    for (const int64_t begin : {0, 2}) {
      expect_equal(columns(y, begin, 2), rms_norm(columns(x, begin, 2), weight).value(), "two features");
    }
    expect_equal(columns(y, 5, 3), rms_norm(columns(x, 5, 3), other).value(), "three features");
    for (const int64_t column : {4, 8}) expect_equal(columns(y, column, 1), columns(x, column, 1), "others");
  }
  expect_error(ErrorKind::kShape, "columns [5, 8) of x (2, 9) are not heads as wide as the weight (2)", [&] {
    rms_norm_heads(x, {{5, 3, weight}});
  });
  expect_error(ErrorKind::kShape, "columns [8, 10)", [&] { rms_norm_heads(x, {{8, 2, weight}}); });
}

GRADIENT_CHECK(rms_norm_heads, OfTwoParts) {
  TensorSource source(5);
  expect_gradients(
      [](const auto& x) {
        return rms_norm_heads(x[0], {{0, 6, x[1]}, {7, 4, x[2]}}, {.epsilon = 0.3, .weight_offset = 1});
      },
      {source.normal({2, 12}), source.normal({3}), source.normal({2})});
}

TEST(RmsNorm, ErrorsNameTheShapes) {
  expect_error(ErrorKind::kShape, "x (2, 3) needs a weight of (3), not (2)", [] {
    rms_norm(Tensor::zeros({2, 3}), Tensor::zeros({2}));
  });
  expect_error(ErrorKind::kShape, "types differ", [] {
    rms_norm(Tensor::zeros({2, 3}), Tensor::zeros({3}, DType::kFloat64));
  });
}

GRADIENT_CHECK(rms_norm, BothInputs) {
  for (const int64_t width : {1, 2, 5, 17, 33}) {
    TensorSource source(static_cast<uint64_t>(width));
    for (const double offset : {0.0, 1.0}) {
      expect_gradients(
          [&](const auto& x) { return rms_norm(x[0], x[1], {.epsilon = 0.3, .weight_offset = offset}); },
          {source.normal({2, 3, width}), source.normal({width})});
    }
  }
}

}  // namespace
}  // namespace heed::ops
