#include "ops/scale.h"

#include <gtest/gtest.h>

#include "compare.h"
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

}  // namespace
}  // namespace heed::ops
