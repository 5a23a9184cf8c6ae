#include "ops/elementwise.h"

#include <cmath>

#include "compare.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

constexpr Activation kActivations[] = {Activation::kRelu,  Activation::kGelu, Activation::kGeluTanh,
                                       Activation::kSwish, Activation::kTanh, Activation::kSigmoid};

/// The definitions.
double exact(Activation function, double x) {
  const double logistic = 1 / (1 + std::exp(-x));
  switch (function) {
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kGelu:
      return x / 2 * std::erfc(-x / std::sqrt(2));
    case Activation::kGeluTanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case Activation::kSwish:
      return x * logistic;
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return logistic;
  }
  return NAN;
}

TEST(Activate, AgreesWithItsDefinitionEverywhere) {
  std::vector<double> points;
  for (int n = 0; n <= 108; ++n) points.push_back(-20 + 0.37 * n);
  for (const double x : {0.0, 1e-9, 50.0, 90.0, 100.0, 200.0, 750.0, 1e4, 1e30}) {
    points.push_back(x);
    points.push_back(-x);
  }
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const Tensor x = Tensor::from(points, {static_cast<int64_t>(points.size())}).to(dtype);
    for (const Activation function : kActivations) {
      const std::vector<double> inputs = x.to_vector<double>(),
                                y = activate(function, x).value().to_vector<double>();
      const double epsilon = dtype == DType::kFloat32 ? 0x1p-23 : 0x1p-52;
      for (size_t i = 0; i < y.size(); ++i) {
        const double expected = exact(function, inputs[i]);
        // A few roundings, of a number that may have been as large as x before it met one that is small;
        // gelu_tanh's polynomial, times the slope of tanh, is the worst.
        const double tolerance = 16 * epsilon * std::max(1.0, std::abs(inputs[i]));
        ASSERT_NEAR(y[i], expected, tolerance) << static_cast<int>(function) << " of " << inputs[i];
      }
    }
  }
}

TEST(Activate, ReluIsFlatAtZero) {
  Tape tape;
  const Var x = tape.leaf(Tensor::from<double>({-1, 0, 1}, {3}));
  tape.backward(activate(Activation::kRelu, x));
  expect_equal(tape.gradient(x), Tensor::from<double>({0, 0, 1}, {3}), "dx");
}

TEST(Activate, NeedsFloats) {
  expect_error(ErrorKind::kShape, "not int32",
               [] { activate(Activation::kRelu, Tensor::zeros({3}, DType::kInt32)); });
}

GRADIENT_CHECK(activate, EveryFunction) {
  for (const int64_t size : {1, 7, 33}) {
    Tensor x = TensorSource(static_cast<uint64_t>(size)).normal({size}, DType::kFloat64, 2);
    for (int64_t i = 0; i < size; ++i) {  // keep away from the kink of relu
      double& value = x.data<double>()[i];
      if (std::abs(value) < 0.01) value = 0.5;
    }
    for (const Activation function : kActivations) {
      expect_gradients([&](const auto& inputs) { return activate(function, inputs[0]); }, {x});
    }
  }
}

TEST(Add, AddsAndPassesOnTheGradientTwice) {
  const Tensor a = Tensor::from<double>({1, 2, 3}, {3}), b = Tensor::from<double>({10, 20, 30}, {3});
  expect_equal(add(a, b).value(), Tensor::from<double>({11, 22, 33}, {3}), "a + b");
  expect_equal(a, Tensor::from<double>({1, 2, 3}, {3}), "a is not changed");
  expect_error(ErrorKind::kShape, "add: shapes differ: (3) and (1, 3)", [&] { add(a, b.reshape({1, 3})); });
  expect_error(ErrorKind::kShape, "types differ", [&] { add(a, b.to(DType::kFloat32)); });
}

GRADIENT_CHECK(add, TwoAndOneWithItself) {
  TensorSource source(1);
  expect_gradients([](const auto& x) { return add(x[0], x[1]); },
                   {source.normal({3, 5}), source.normal({3, 5})});
  expect_gradients([](const auto& x) { return add(add(x[0], x[0]), x[0]); }, {source.normal({7})});
  // A residual around a layer that is itself a residual.
  expect_gradients(
      [](const auto& x) {
        const Var y = add(x[0], activate(Activation::kTanh, x[0]));
        return add(y, activate(Activation::kSigmoid, add(y, x[0])));
      },
      {source.normal({5})});
}

const DropoutStream kStream(RandomKey::from_seed(3), 0.4);

TEST(Dropout, WithoutProbabilityIsNotThere) {
  const Tensor x = TensorSource(1).normal({5});
  EXPECT_EQ(dropout(x, DropoutStream()).value().bytes(), x.bytes());
  expect_equal(add_dropout(x, x, DropoutStream()).value(), add(x, x).value(), "no dropout");
}

TEST(Dropout, DropsTheSameBackwards) {
  Tape tape;
  const Var x = tape.leaf(Tensor::from(std::vector<double>(300, 1.0), {300}));
  const Var y = dropout(x, kStream);
  tape.backward(y);
  expect_equal(tape.gradient(x), y.value(), "the derivative of x times mask is the mask");
  EXPECT_GT(kStream.scale(), 1.6);
}

TEST(Dropout, WithAGivenMask) {
  const Tensor x = Tensor::from<double>({1, 2, 3, 4}, {2, 2}),
               keep = Tensor::from<uint8_t>({1, 0, 0, 1}, {2, 2});
  expect_equal(dropout(x, keep, 0.75).value(), Tensor::from<double>({4, 0, 0, 16}, {2, 2}), "y");
  expect_error(ErrorKind::kShape, "the mask (4) must have the shape of x (2, 2)",
               [&] { dropout(x, keep.reshape({4}), 0.5); });
  expect_error(ErrorKind::kUsage, "not 1", [&] { dropout(x, keep, 1); });
  expect_error(ErrorKind::kUsage, "not nan", [&] { dropout(x, keep, NAN); });
}

TEST(AddDropout, IsAddOfDropout) {
  TensorSource source(4);
  const Tensor residual = source.normal({3, 67}), x = source.normal({3, 67});
  expect_close(add_dropout(residual, x, kStream).value(), add(residual, dropout(x, kStream)).value(), 1e-15,
               "y");
  expect_error(ErrorKind::kShape, "add_dropout: shapes differ: (3, 67) and (67)",
               [&] { add_dropout(residual, source.normal({67}), kStream); });
}

TEST(GatedActivation, HalfOpensTheOther) {
  TensorSource source(9);
  const Tensor x = source.normal({3, 10});
  const Tensor gate = x.narrow(1, 0, 5).clone(), other = x.narrow(1, 5, 5).clone();
  Tensor expected = activate(Activation::kSwish, gate).value().clone();
  for (int64_t i = 0; i < expected.size(); ++i) expected.data<double>()[i] *= other.data<double>()[i];
  expect_close(gated_activation(Activation::kSwish, x).value(), expected, 1e-15, "y");
  expect_error(ErrorKind::kShape, "must be even", [] {
    gated_activation(Activation::kSwish, Tensor::zeros({2, 3}));
  });
}

TEST(SoftCap, BoundsWhatIsLarge) {
  const Tensor x = Tensor::from<double>({-1000, -2, 0, 1e-3, 1000}, {5});
  expect_close(soft_cap(x, 4).value(), Tensor::from<double>({-4, -4 * std::tanh(0.5), 0, 1e-3, 4}, {5}),
               1e-10, "capped");
  expect_error(ErrorKind::kUsage, "the cap must be above 0, not 0", [&] { soft_cap(x, 0); });
}

GRADIENT_CHECK(soft_cap, AroundTheCap) {
  expect_gradients([](const auto& x) { return soft_cap(x[0], 1.5); },
                   {TensorSource(21).normal({3, 7}, DType::kFloat64, 2)});
}

GRADIENT_CHECK(gated_activation, SmoothFunctions) {
  for (const Activation function : {Activation::kSwish, Activation::kGelu, Activation::kSigmoid}) {
    expect_gradients([=](const auto& x) { return gated_activation(function, x[0]); },
                     {TensorSource(10).normal({3, 14})});
  }
}

GRADIENT_CHECK(dropout, DrawnMask) {
  expect_gradients([](const auto& x) { return dropout(x[0], kStream); }, {TensorSource(5).normal({3, 47})});
}

GRADIENT_CHECK(dropout, GivenMask) {
  TensorSource source(6);
  const Tensor keep = source.mask({3, 5});
  expect_gradients([&](const auto& x) { return dropout(x[0], keep, 0.3); }, {source.normal({3, 5})});
}

GRADIENT_CHECK(add_dropout, BothInputs) {
  TensorSource source(7);
  expect_gradients([](const auto& x) { return add_dropout(x[0], x[1], kStream); },
                   {source.normal({3, 45}), source.normal({3, 45})});
  expect_gradients([](const auto& x) { return add_dropout(x[0], x[0], kStream); }, {source.normal({3, 5})});
}

}  // namespace
}  // namespace heed::ops
