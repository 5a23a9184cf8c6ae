// Adam and AdamW, with and without clipping, against torch.optim: the state after every step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "kernels/pointwise/adam.h"
#include "reference.h"

namespace heed {
namespace {

template <typename T>
struct Parameter {
  Tensor weights, m, v, gradients;  // gradients of all steps: (steps, ...)

  const T* gradient(int64_t step) const { return gradients.data<T>() + step * weights.size(); }
  double sum_of_squares(int64_t step) const {
    double sum = 0;
    heed::sum_of_squares({.size = weights.size(), .x = gradient(step), .sum = &sum});
    return sum;
  }
};

template <typename T>
void follow(const ReferenceCase& reference) {
  constexpr DType kType = DTypeOf<T>::value;
  const auto& settings = reference.hyperparameters();
  std::map<std::string, Parameter<T>> parameters;
  for (const std::string name : {"weight", "bias"}) {
    const Tensor weights = reference.tensor("parameter." + name, kType);
    parameters[name] = {weights, Tensor::zeros(weights.shape(), kType), Tensor::zeros(weights.shape(), kType),
                        reference.tensor("input." + name + "_gradients", kType)};
  }
  const auto compare = [&](const std::string& name, const Tensor& actual, const Tensor& expected) {
    expect_close(actual, expected, reference.tolerance("expected." + name, kType),
                 reference.name() + " " + name + " in " + name_of(kType));
  };
  const int64_t steps = parameters["weight"].gradients.dim(0);
  for (int64_t step = 0; step < steps; ++step) {
    double clip = 1;
    if (const auto& largest = settings.at("max_norm"); !largest.is_null()) {
      const double norm =
          std::sqrt(parameters["weight"].sum_of_squares(step) + parameters["bias"].sum_of_squares(step));
      compare("norm", Tensor::from<double>({norm}, {1}),
              reference.tensor("expected.norm").narrow(0, step, 1).clone());
      clip = std::min(1.0, largest.template get<double>() / (norm + 1e-6));
    }
    for (auto& [name, p] : parameters) {
      adam({.size = p.weights.size(),
            .weights = p.weights.template data<T>(),
            .m = p.m.template data<T>(),
            .v = p.v.template data<T>(),
            .gradients = p.gradient(step),
            .gradient_scale = clip,
            .rate = settings.at("rate"),
            .beta1 = settings.at("beta1"),
            .beta2 = settings.at("beta2"),
            .epsilon = settings.at("eps"),
            .weight_decay = settings.at("weight_decay"),
            .decoupled = reference.name().find("adamw") != std::string::npos,
            .n = step + 1});
      const Tensor expected = reference.tensor("expected." + name).narrow(0, step, 1).clone();
      compare(name, p.weights, expected.reshape(p.weights.shape()));
    }
  }
  for (const auto& [name, p] : parameters) {
    compare(name + "_m", p.m, reference.tensor("expected." + name + "_m"));
    compare(name + "_v", p.v, reference.tensor("expected." + name + "_v"));
  }
}

TEST(AdamReference, EveryStep) {
  const auto cases = fixture_cases("adam");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  int followed = 0;
  for (const std::string& name : cases) {
    const ReferenceCase reference(name);
    if (!reference.has("parameter.weight")) continue;  // the schedules, which are the trainer's
    follow<float>(reference);
    follow<double>(reference);
    ++followed;
  }
  EXPECT_GE(followed, 1);
}

}  // namespace
}  // namespace heed
