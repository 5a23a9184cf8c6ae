#include "ops/norms/layer_norm.h"

#include <cmath>

#include "compare.h"
#include "ops/elementwise.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

TEST(LayerNorm, GivesMeanZeroAndVarianceOne) {
  const Tensor x = Tensor::from<double>({1, 2, 3, 4, 10, 10, 10, 14}, {2, 4});
  const Tensor ones = Tensor::from<double>({1, 1, 1, 1}, {4}), zeros = Tensor::zeros({4}, DType::kFloat64);
  // Variances 5/4 and 3.
  const double a = 1 / std::sqrt(1.25), b = 1 / std::sqrt(3.0);
  expect_close(layer_norm(x, ones, zeros, 0).value(),
               Tensor::from<double>({-1.5 * a, -0.5 * a, 0.5 * a, 1.5 * a, -b, -b, -b, 3 * b}, {2, 4}), 1e-15,
               "y");
}

TEST(LayerNorm, ScalesShiftsAndKeepsClearOfZeroVariance) {
  const Tensor x = Tensor::from<double>({7, 7, 7}, {1, 3});
  const Tensor weight = Tensor::from<double>({1, 2, 3}, {3}), bias = Tensor::from<double>({4, 5, 6}, {3});
  expect_equal(layer_norm(x, weight, bias).value().reshape({3}), bias, "a row without variance");
}

TEST(LayerNorm, ALargeMeanCostsNoPrecision) {
  TensorSource source(1);
  Tensor x = source.normal({4, 37}, DType::kFloat32);
  const Tensor weight = source.normal({37}, DType::kFloat32), bias = source.normal({37}, DType::kFloat32);
  for (int64_t i = 0; i < x.size(); ++i) x.data<float>()[i] += 300;
  const Tensor exact =
      layer_norm(x.to(DType::kFloat64), weight.to(DType::kFloat64), bias.to(DType::kFloat64)).value();
  // The mean, of size 300, is off by at most 37 roundings of 300 * 2^-24, far below what variance as the mean
  // of squares minus the square of the mean would lose: 300^2 * 2^-24 each.
  expect_close(layer_norm(x, weight, bias).value(), exact, 37 * 300 * 0x1p-24 * 4, "float32");
}

// Rows are normalized four at a time, and one by one.
TEST(LayerNorm, OfASumIsThatOfTheSum) {
  for (const int64_t rows : {0, 1, 3, 4, 9}) {
    for (const int64_t width : {1, 16, 37}) {
      TensorSource source(static_cast<uint64_t>(rows * 100 + width));
      const auto normal = [&](const Shape& shape) { return source.normal(shape, DType::kFloat32); };
      const Tensor x = normal({rows, width}), added = normal({rows, width});
      const Tensor weight = normal({width}), bias = normal({width});
      const Tensor y = layer_norm_of_sum(x, added, weight, bias, 1e-3);
      expect_equal(y, layer_norm(add(x, added), weight, bias, 1e-3).value(), "of the sum");
      for (int64_t row = 0; row < rows; ++row) {
        const auto one = [&](const Tensor& all) { return all.narrow(0, row, 1).clone(); };
        expect_equal(one(y), layer_norm(add(one(x), one(added)), weight, bias, 1e-3).value(), "one row");
      }
    }
  }
}

TEST(LayerNorm, ErrorsNameTheShapes) {
  const Tensor x = Tensor::zeros({2, 3});
  expect_error(ErrorKind::kShape, "x (2, 3) needs weight and bias of (3), not (2)",
               [&] { layer_norm(x, Tensor::zeros({2}), Tensor::zeros({3})); });
  expect_error(ErrorKind::kShape, "float32 and float64",
               [&] { layer_norm(x, Tensor::zeros({3}, DType::kFloat64), Tensor::zeros({3})); });
  expect_error(ErrorKind::kShape, "at least one axis",
               [&] { layer_norm(Tensor::zeros(Shape{}), Tensor::zeros({1}), Tensor::zeros({1})); });
}

GRADIENT_CHECK(layer_norm, OfAllThreeInputs) {
  for (const int64_t width : {1, 2, 5, 17, 33}) {
    TensorSource source(static_cast<uint64_t>(width));
    // So large an epsilon that rows of one or two elements stay smooth.
    expect_gradients([](const auto& x) { return layer_norm(x[0], x[1], x[2], 0.3); },
                     {source.normal({3, width}), source.normal({width}), source.normal({width})});
  }
}

GRADIENT_CHECK(layer_norm, UsualEpsilonAndMoreAxes) {
  TensorSource source(7);
  expect_gradients([](const auto& x) { return layer_norm(x[0], x[1], x[2]); },
                   {source.normal({2, 3, 9}, DType::kFloat64, 2), source.normal({9}), source.normal({9})});
  expect_gradients([](const auto& x) { return layer_norm(x[0], x[1], x[2]); },
                   {source.normal({0, 9}), source.normal({9}), source.normal({9})});
}

}  // namespace
}  // namespace heed::ops
