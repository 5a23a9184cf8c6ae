#include "kernels/reduction/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"

namespace heed {
namespace {

TEST(LogSoftmax, FollowsItsDefinitionAndWorksInPlace) {
  Random random(RandomKey::from_seed(1));
  for (const int64_t classes : {1, 2, 7, 16, 33, 1000}) {
    for (const double shift : {0.0, 1000.0}) {
      std::vector<double> x(static_cast<size_t>(3 * classes));
      for (double& value : x) value = 3 * random.normal() + shift;
      std::vector<double> y = x;
      log_softmax({.rows = 3, .classes = classes, .x = y.data(), .y = y.data()});
      for (int64_t row = 0; row < 3; ++row) {
        double sum = 0, total = 0;
        for (int64_t c = 0; c < classes; ++c) sum += std::exp(x[row * classes + c] - shift);
        for (int64_t c = 0; c < classes; ++c) {
          ASSERT_NEAR(y[row * classes + c], x[row * classes + c] - shift - std::log(sum), 1e-12);
          total += std::exp(y[row * classes + c]);
        }
        EXPECT_NEAR(total, 1, 1e-12);
      }
    }
  }
}

TEST(CrossEntropyKernel, MayWriteItsGradientOverTheLogits) {
  const std::vector<float> logits{1, 2, 3, 0.5f, -1, 4};
  const std::vector<int32_t> targets{2, 0};
  std::vector<float> apart(6), over = logits, losses(2);
  CrossEntropyArguments<float> a{.rows = 2,
                                 .classes = 3,
                                 .logits = logits.data(),
                                 .targets = targets.data(),
                                 .smoothing = 0.1,
                                 .losses = losses.data(),
                                 .dlogits = apart.data()};
  cross_entropy(a);
  a.logits = a.dlogits = over.data();
  cross_entropy(a);
  EXPECT_EQ(over, apart);
  for (int row = 0; row < 2; ++row) {
    EXPECT_NEAR(over[3 * row] + over[3 * row + 1] + over[3 * row + 2], 0, 1e-6)
        << "both distributions sum to 1";
  }
}

}  // namespace
}  // namespace heed
