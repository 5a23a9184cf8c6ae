#include "kernels/pointwise/adam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace heed {
namespace {

struct State {
  double w, m = 0, v = 0;
};

/// The definition, for one number.
void step(State& s, double gradient, const AdamArguments<double>& a) {
  double g = gradient * a.gradient_scale;
  if (a.decoupled) {
    s.w -= a.rate * a.weight_decay * s.w;
  } else {
    g += a.weight_decay * s.w;
  }
  s.m = a.beta1 * s.m + (1 - a.beta1) * g;
  s.v = a.beta2 * s.v + (1 - a.beta2) * g * g;
  const double m = s.m / (1 - std::pow(a.beta1, a.n)), v = s.v / (1 - std::pow(a.beta2, a.n));
  s.w -= a.rate * m / (std::sqrt(v) + a.epsilon);
}

TEST(Adam, FollowsItsDefinition) {
  const std::vector<double> gradients{0.5, -2, 0, 1e-6, 30};
  for (const bool decoupled : {false, true}) {
    std::vector<double> w{1, 2, 3, -1, 0.5}, m(5), v(5);
    std::vector<State> expected;
    for (const double weight : w) expected.push_back({weight});
    for (int n = 1; n <= 20; ++n) {
      AdamArguments<double> a{.size = 5,
                              .weights = w.data(),
                              .m = m.data(),
                              .v = v.data(),
                              .gradients = gradients.data(),
                              .gradient_scale = 1.0 / n,
                              .rate = 0.01,
                              .beta1 = 0.9,
                              .beta2 = 0.98,
                              .epsilon = 1e-9,
                              .weight_decay = 0.1,
                              .decoupled = decoupled,
                              .n = n};
      adam(a);
      for (size_t i = 0; i < 5; ++i) {
        step(expected[i], gradients[i], a);
        ASSERT_NEAR(w[i], expected[i].w, 1e-14) << "step " << n;
        ASSERT_NEAR(m[i], expected[i].m, 1e-14 * (1 + std::abs(m[i])));
        ASSERT_NEAR(v[i], expected[i].v, 1e-14 * (1 + v[i]));
      }
    }
  }
}

// In the first step every weight moves by the rate, whatever the size of its gradient.
TEST(Adam, TheFirstStepIsAsLongAsTheRate) {
  std::vector<float> w{0, 0, 0}, m(3), v(3);
  const std::vector<float> gradients{1e-3f, -5, 0};
  adam({.size = 3,
        .weights = w.data(),
        .m = m.data(),
        .v = v.data(),
        .gradients = gradients.data(),
        .rate = 0.01,
        .n = 1});
  EXPECT_NEAR(w[0], -0.01, 1e-7);
  EXPECT_NEAR(w[1], 0.01, 1e-7);
  EXPECT_EQ(w[2], 0) << "no gradient, no step";
}

TEST(SumOfSquares, IsPreciseForManyNumbers) {
  constexpr int64_t kSize = 1 << 20;
  const std::vector<float> x(kSize, 0.1f);
  double sum = 0;
  sum_of_squares({.size = kSize, .x = x.data(), .sum = &sum});
  // Blocks of 256 are added in float32: 16 lanes of 16 numbers, or one of 256; the blocks in float64.
  EXPECT_NEAR(sum / kSize, static_cast<double>(0.1f) * static_cast<double>(0.1f), 0.01 * 256 * 0x1p-24);
  float naive = 0;
  for (const float value : x) naive += value * value;
  EXPECT_GT(std::abs(static_cast<double>(naive) / kSize - 0.01), 0.01 * 256 * 0x1p-24) << "the control";
}

}  // namespace
}  // namespace heed
