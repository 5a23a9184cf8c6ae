#include "ops/linear.h"

#include <utility>

#include "compare.h"
#include "kernels/gemm/packed/packed_matrix.h"
#include "ops/elementwise.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

TEST(Linear, MultipliesByTheTransposedWeightAndAddsTheBias) {
  const Tensor x = Tensor::from<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor weight = Tensor::from<double>({1, 0, -1, 2, 1, 0}, {2, 3});
  const Tensor bias = Tensor::from<double>({10, 20}, {2});
  expect_equal(linear(x, weight, bias).value(), Tensor::from<double>({8, 24, 8, 33}, {2, 2}), "with bias");
  expect_equal(linear(x, weight).value(), Tensor::from<double>({-2, 4, -2, 13}, {2, 2}), "without");
}

TEST(Linear, KeepsTheAxesInFront) {
  TensorSource source(1);
  const Tensor x = source.normal({2, 3, 4, 5}), weight = source.normal({7, 5}), bias = source.normal({7});
  const Tensor y = linear(x, weight, bias).value();
  EXPECT_EQ(y.shape().to_string(), "(2, 3, 4, 7)");
  expect_equal(y.reshape({24, 7}), linear(x.reshape({24, 5}), weight, bias).value(), "the same rows");
  EXPECT_EQ(linear(x.reshape({24, 5}).narrow(0, 3, 1).reshape({5}), weight, bias).shape().to_string(), "(7)");
}

TEST(Linear, NothingAndSumsOfNothing) {
  TensorSource source(1);
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const Tensor bias = source.normal({2}, dtype);
    EXPECT_EQ(linear(Tensor::empty({0, 3}, dtype), source.normal({2, 3}, dtype), bias).value().size(), 0);
    const Tensor y = linear(Tensor::empty({3, 0}, dtype), Tensor::empty({2, 0}, dtype), bias).value();
    for (int64_t row = 0; row < 3; ++row)
      expect_equal(y.narrow(0, row, 1).clone().reshape({2}), bias, "bias alone");
    expect_equal(linear(Tensor::empty({3, 0}, dtype), Tensor::empty({2, 0}, dtype)).value(),
                 Tensor::zeros({3, 2}, dtype), "nothing at all");
  }
}

TEST(Linear, IsTheSameWithPackedWeights) {
  TensorSource source(2);
  const Tensor x = source.normal({2, 3, 5}, DType::kFloat32), weight = source.normal({4, 5}, DType::kFloat32);
  const PackedMatrix packed(weight.data<float>(), 4, 5, nullptr);
  // Two orders of a sum of five products of size 1.
  expect_close(linear(x, packed), linear(x, weight).value(), 1e-5, "packed");
  expect_error(ErrorKind::kShape, "x (2, 3) must be as long as the last of the weight (4, 5)", [&] {
    linear(Tensor::zeros({2, 3}), packed);
  });
}

/// The derivative with both layouts is that of the plain product, and is added to what is there.
TEST(Linear, HasADerivativeWithPackedWeights) {
  TensorSource source(3);
  const Tensor x = source.normal({6, 64}, DType::kFloat32), weight = source.normal({40, 64}, DType::kFloat32),
               bias = source.normal({40}, DType::kFloat32),
               upstream = source.normal({6, 40}, DType::kFloat32);
  Tensor columns = Tensor::empty({64, 40});
  for (int64_t o = 0; o < 40; ++o) {
    for (int64_t i = 0; i < 64; ++i) columns.data<float>()[i * 40 + o] = weight.data<float>()[o * 64 + i];
  }
  const PackedMatrix packed(weight.data<float>(), 40, 64, bias.data<float>());
  const PackedMatrix transposed(columns.data<float>(), 64, 40, nullptr);
  Tape tape, plain_tape;
  const Var leaf = tape.leaf(x.clone()), plain_leaf = plain_tape.leaf(x.clone());
  // Both products of the same leaf, so that the second gradient is added to the first.
  const Var y = add(linear(leaf, packed, transposed), linear(leaf, packed, transposed));
  const Var plain = add(linear(plain_leaf, weight, bias), linear(plain_leaf, weight, bias));
  expect_close(y.value(), plain.value(), 64 * 4 * 0x1p-23, "value");
  tape.backward(y, upstream);
  plain_tape.backward(plain, upstream);
  expect_close(tape.gradient(leaf), plain_tape.gradient(plain_leaf), 40 * 8 * 0x1p-23, "gradient");
  EXPECT_FALSE(linear(Var(x), packed, transposed).wants_gradient());
}

// Around blocks of rows, which are small where the inner layer is wide.
TEST(FeedForward, IsItsLayersOneAfterTheOther) {
  TensorSource source(5);
  for (const auto& [rows, inner] : {std::pair<int64_t, int64_t>{0, 8}, {1, 8}, {7, 1600}, {400, 3200}}) {
    const Tensor x = source.normal({rows, 6}, DType::kFloat32);
    const Tensor first = source.normal({inner, 6}, DType::kFloat32);
    const Tensor second = source.normal({5, inner}, DType::kFloat32), bias = source.normal({inner});
    const Tensor bias32 = bias.to(DType::kFloat32);
    const PackedMatrix a(first.data<float>(), inner, 6, bias32.data<float>());
    const PackedMatrix b(second.data<float>(), 5, inner, nullptr);
    for (const Activation function : {Activation::kRelu, Activation::kGelu}) {
      expect_equal(feed_forward(x, a, function, b), linear(activate(function, linear(x, a)).value(), b),
                   "feed-forward network");
    }
  }
}

TEST(FeedForward, ErrorsNameTheSizes) {
  const Tensor weight = Tensor::zeros({4, 5});
  const PackedMatrix packed(weight.data<float>(), 4, 5, nullptr);
  expect_error(ErrorKind::kShape, "feed_forward: the last axis of x (2, 3)", [&] {
    feed_forward(Tensor::zeros({2, 3}), packed, Activation::kRelu, packed);
  });
  expect_error(ErrorKind::kShape, "the second layer has 5 inputs and the first one 4 outputs", [&] {
    feed_forward(Tensor::zeros({2, 5}), packed, Activation::kRelu, packed);
  });
}

TEST(Linear, ErrorsNameBothShapes) {
  const Tensor x = Tensor::zeros({2, 3}), weight = Tensor::zeros({4, 5});
  const std::string part = "x (2, 3) must be as long as the last of the weight (4, 5)";
  expect_error(ErrorKind::kShape, part, [&] { linear(x, weight); });
  expect_error(ErrorKind::kShape, "a weight of (4, 3) needs a bias of (4), not (3)", [&] {
    linear(x, Tensor::zeros({4, 3}), Tensor::zeros({3}));
  });
  expect_error(ErrorKind::kShape, "float32 and float64", [&] {
    linear(x, Tensor::zeros({4, 3}, DType::kFloat64));
  });
  expect_error(ErrorKind::kShape, "at least one axis", [&] { linear(Tensor::zeros(Shape{}), weight); });
  expect_error(ErrorKind::kShape, "has gaps", [&] {
    linear(Tensor::zeros({2, 5}).narrow(1, 0, 3), Tensor::zeros({4, 3}));
  });
}

GRADIENT_CHECK(linear, WithBias) {
  TensorSource source(3);
  expect_gradients([](const auto& x) { return linear(x[0], x[1], x[2]); },
                   {source.normal({3, 5}), source.normal({7, 5}), source.normal({7})});
}

GRADIENT_CHECK(linear, SmallestSizesAndMoreAxes) {
  TensorSource source(4);
  const auto without_bias = [](const auto& x) { return linear(x[0], x[1]); };
  expect_gradients(without_bias, {source.normal({1, 1}), source.normal({1, 1})});
  expect_gradients(without_bias, {source.normal({2, 3, 2}), source.normal({3, 2})});
  expect_gradients(without_bias, {source.normal({0, 3}), source.normal({2, 3})});
}

GRADIENT_CHECK(linear, WithItselfAsWeight) {
  TensorSource source(5);
  expect_gradients([](const auto& x) { return linear(x[0], x[0]); }, {source.normal({3, 5})});
}

}  // namespace
}  // namespace heed::ops
