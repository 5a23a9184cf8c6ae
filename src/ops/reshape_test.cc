#include "ops/reshape.h"

#include "compare.h"
#include "ops/elementwise.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

TEST(Reshape, KeepsTheOrderAndSharesTheMemory) {
  const Tensor x = Tensor::from<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  expect_equal(reshape(x, {3, 2}).value(), Tensor::from<double>({1, 2, 3, 4, 5, 6}, {3, 2}), "y");
  EXPECT_EQ(reshape(x, {6}).value().bytes(), x.bytes());
  expect_error(ErrorKind::kShape, "cannot reshape (2, 3) to (4)", [&] { reshape(x, {4}); });
}

GRADIENT_CHECK(reshape, BesideTheUnreshaped) {
  expect_gradients(
      [](const auto& x) {
        return add(reshape(reshape(x[0], {6}), {2, 3}), x[0]);
      },
      {TensorSource(1).normal({2, 3})});
}

}  // namespace
}  // namespace heed::ops
