#include "autograd/gradient_check.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_tensor.h"

namespace heed {
namespace {

/// y = f(x) with a derivative that may be wrong: dx = factor * dy f'(x).
Var map(const Var& x, double (*f)(double), double (*derivative)(double), double factor = 1) {
  Tensor y = Tensor::empty(x.shape(), DType::kFloat64);
  for (int64_t i = 0; i < y.size(); ++i) y.data<double>()[i] = f(x.value().data<double>()[i]);
  if (!x.wants_gradient()) return y;
  return x.tape()->record(y, [x, derivative, factor](const Tensor& dy) {
    Tensor dx = Tensor::empty(x.shape(), DType::kFloat64);
    for (int64_t i = 0; i < dx.size(); ++i) {
      dx.data<double>()[i] = factor * dy.data<double>()[i] * derivative(x.value().data<double>()[i]);
    }
    x.tape()->add_gradient(x, dx);
  });
}

double sine(double x) {
  return std::sin(x);
}
double cosine(double x) {
  return std::cos(x);
}
double one(double) {
  return 1;
}

TEST(GradientMismatch, AcceptsARightDerivative) {
  TensorSource source(1);
  EXPECT_EQ(gradient_mismatch([](const auto& x) { return map(x[0], sine, cosine); }, {source.normal({3, 4})}),
            "");
  EXPECT_EQ(gradient_mismatch([](const auto& x) { return map(map(x[0], sine, cosine), std::exp, std::exp); },
                              {source.normal({7})}),
            "");
}

TEST(GradientMismatch, FindsADerivativeThatIsAlmostRight) {
  TensorSource source(1);
  const Tensor x = source.normal({5});
  EXPECT_EQ(gradient_mismatch([](const auto& v) { return map(v[0], sine, cosine, 1 + 1e-13); }, {x}), "");
  EXPECT_NE(gradient_mismatch([](const auto& v) { return map(v[0], sine, cosine, 1 + 1e-7); }, {x}), "");
  EXPECT_NE(gradient_mismatch([](const auto& v) { return map(v[0], sine, one); }, {x}), "");
  const std::string missing =
      gradient_mismatch([](const auto& v) { return Var(map(v[0], sine, cosine).value()); }, {x});
  EXPECT_NE(missing.find("input 0 (5) at element 0 is 0, but finite differences give"), std::string::npos)
      << missing;
}

TEST(GradientMismatch, FindsAGradientThatOverwritesTheAccumulator) {
  TensorSource source(2);
  const auto overwrites = [](const std::vector<Var>& inputs) {
    const Var& x = inputs[0];
    if (!x.wants_gradient()) return x;
    return x.tape()->record(x.value(), [x](const Tensor& dy) {
      Tensor sum = x.tape()->accumulator(x);
      for (int64_t i = 0; i < sum.size(); ++i) sum.data<double>()[i] = dy.data<double>()[i];
    });
  };
  EXPECT_NE(gradient_mismatch(overwrites, {source.normal({4})}), "");
}

TEST(GradientMismatch, FindsAGradientThatDependsOnOtherInputsBeingConstant) {
  TensorSource source(3);
  const auto sum = [](bool right) {
    return [right](const std::vector<Var>& inputs) {
      const Var &a = inputs[0], &b = inputs[1];
      Tensor y = a.value().clone();
      for (int64_t i = 0; i < y.size(); ++i) y.data<double>()[i] += b.value().data<double>()[i];
      Tape* tape = tape_of(a, b);
      if (tape == nullptr) return Var(y);
      return tape->record(y, [tape, a, b, right](const Tensor& dy) {
        tape->add_gradient(a, dy);
        if (right || a.wants_gradient()) tape->add_gradient(b, dy);
      });
    };
  };
  const std::vector<Tensor> inputs{source.normal({3}), source.normal({3})};
  EXPECT_EQ(gradient_mismatch(sum(true), inputs), "");
  const std::string message = gradient_mismatch(sum(false), inputs);
  EXPECT_NE(message.find("input 1 (3) at element 0"), std::string::npos) << message;
  EXPECT_NE(message.find("where the other inputs are constants"), std::string::npos) << message;
}

}  // namespace
}  // namespace heed
