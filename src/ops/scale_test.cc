#include "ops/scale.h"

#include <gtest/gtest.h>

#include "compare.h"
#include "heed/error.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"

namespace heed::ops {
namespace {

TEST(Scale, MultipliesEveryElement) {
  const Tensor x = Tensor::from<double>({-2, 0, 3, 8}, {2, 2});
  expect_equal(scale(x, 0.25).value(), Tensor::from<double>({-0.5, 0, 0.75, 2}, {2, 2}), "a quarter");
}

GRADIENT_CHECK(scale, AnyFactor) {
  expect_gradients([](const auto& x) { return scale(x[0], -1.75); }, {TensorSource(22).normal({3, 7})});
}

TEST(ScaleHeads, MultipliesTheColumnsOfEachHead) {
  const Tensor x = Tensor::from<double>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  expect_equal(scale_heads(x, {0, -2}).value(), Tensor::from<double>({0, 0, -6, -8, 0, 0, -14, -16}, {2, 4}),
               "the first head removed");
  EXPECT_THROW(scale_heads(x, {1, 1, 1}), Error);
}

GRADIENT_CHECK(scale_heads, AnyFactors) {
  expect_gradients(
      [](const auto& x) {
        return scale_heads(x[0], {0.5F, 0, -3});
      },
      {TensorSource(23).normal({4, 6})});
}

}  // namespace
}  // namespace heed::ops
