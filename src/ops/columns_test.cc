#include "ops/columns.h"

#include "compare.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

TEST(Columns, ArePutSideBySideAndTakenApart) {
  const Tensor a = Tensor::from<double>({1, 2, 3, 4}, {2, 2}), b = Tensor::from<double>({5, 6}, {2, 1});
  const Var both = concatenate({a, b});
  expect_equal(both.value(), Tensor::from<double>({1, 2, 5, 3, 4, 6}, {2, 3}), "both");
  expect_equal(columns(both, 0, 2).value(), a, "the first");
  expect_equal(columns(both, 2, 1).value(), b, "the second");
  EXPECT_EQ(columns(Tensor::zeros({2, 3, 4}), 1, 2).shape().to_string(), "(2, 3, 2)");
  EXPECT_EQ(columns(a, 2, 0).shape().to_string(), "(2, 0)");
}

TEST(Columns, ErrorsNameShapes) {
  expect_error(ErrorKind::kShape, "[2, 5) lie outside (2, 4)", [] { columns(Tensor::zeros({2, 4}), 2, 3); });
  expect_error(ErrorKind::kShape, "there are no tensors", [] { concatenate({}); });
  expect_error(ErrorKind::kShape, "(2, 4) and (3, 4)", [] {
    concatenate({Tensor::zeros({2, 4}), Tensor::zeros({3, 4})});
  });
  expect_error(ErrorKind::kShape, "float32 and float64", [] {
    concatenate({Tensor::zeros({2, 4}), Tensor::zeros({2, 4}, DType::kFloat64)});
  });
}

GRADIENT_CHECK(columns, OfTwoAndThreeAxes) {
  TensorSource source(1);
  expect_gradients([](const auto& x) { return columns(x[0], 1, 2); }, {source.normal({3, 4})});
  expect_gradients([](const auto& x) { return columns(x[0], 0, 1); }, {source.normal({2, 1, 3})});
}

GRADIENT_CHECK(concatenate, SeveralAndOneTwice) {
  TensorSource source(2);
  expect_gradients(
      [](const auto& x) {
        return concatenate({x[0], x[1], x[0]});
      },
      {source.normal({3, 4}), source.normal({3, 1})});
}

}  // namespace
}  // namespace heed::ops
