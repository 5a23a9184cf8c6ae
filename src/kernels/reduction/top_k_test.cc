// The kernel against a sort and a sum in long double, on every instruction set.
#include "kernels/reduction/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/rng.h"
#include "kernels/simd/isa.h"

namespace heed {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

struct Top {
  std::vector<float> values;
  std::vector<int32_t> indices;
  std::vector<float> log_sums;
};

Top top_of(const std::vector<float>& logits, int64_t classes, int64_t k) {
  TopKArguments<float> a;
  a.rows = static_cast<int64_t>(logits.size()) / classes;
  a.classes = classes;
  a.logits = logits.data();
  a.k = k;
  Top top{std::vector<float>(a.rows * k), std::vector<int32_t>(a.rows * k), std::vector<float>(a.rows)};
  a.values = top.values.data();
  a.indices = top.indices.data();
  a.log_sums = top.log_sums.data();
  top_k(a);
  return top;
}

void expect_top_of_row(const float* z, int64_t classes, const Top& top, int64_t row, int64_t k) {
  std::vector<int32_t> order(classes);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return z[a] > z[b]; });
  for (int64_t n = 0; n < k; ++n) {
    const bool there = n < classes && z[order[n]] > kNever;
    EXPECT_EQ(top.indices[row * k + n], there ? order[n] : -1) << "row " << row << " rank " << n;
    EXPECT_EQ(top.values[row * k + n], there ? z[order[n]] : kNever);
  }
  long double sum = 0;
  const long double highest = *std::max_element(z, z + classes);
  for (int64_t c = 0; c < classes; ++c) sum += std::exp(static_cast<long double>(z[c]) - highest);
  const auto expected = static_cast<double>(highest + std::log(sum));
  // Positive terms, each within a few units in the last place, summed in as many chains as there are lanes (4
  // at least): the relative error of the sum, which is the absolute one of its log, is below (chain + 4)
  // units; and the result itself is rounded.
  const double unit = std::numeric_limits<float>::epsilon() / 2;
  const double tolerance = unit * (static_cast<double>(classes) / 4 + 8 + 2 * std::abs(expected));
  EXPECT_NEAR(top.log_sums[row], expected, tolerance) << "row " << row;
}

class TopK : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { force_isa(GetParam()); }
  void TearDown() override { force_isa(before_); }

 private:
  const std::string before_ = isa_name();
};

TEST_P(TopK, AgreesWithASort) {
  Random random(RandomKey::from_seed(1));
  for (const int64_t classes : {1, 2, 7, 16, 17, 63, 64, 1000, 4099}) {
    std::vector<float> logits(3 * classes);
    for (float& z : logits) z = static_cast<float>(5 * random.normal());
    for (const int64_t k : {1, 2, 8, 128, 129, 200, 4099, 5000}) {
      const Top top = top_of(logits, classes, k);
      for (int64_t row = 0; row < 3; ++row) expect_top_of_row(&logits[row * classes], classes, top, row, k);
    }
  }
}

TEST_P(TopK, TakesTheLowestIndexOfEqualOnes) {
  std::vector<float> logits(257);
  for (size_t c = 0; c < logits.size(); ++c) logits[c] = static_cast<float>(c % 5);
  const Top top = top_of(logits, 257, 8);
  EXPECT_EQ(top.indices, (std::vector<int32_t>{4, 9, 14, 19, 24, 29, 34, 39}));
}

TEST_P(TopK, FindsRisingAndFallingRows) {
  std::vector<float> logits(2 * 333);
  for (int c = 0; c < 333; ++c) {
    logits[c] = static_cast<float>(c);
    logits[333 + c] = static_cast<float>(-c);
  }
  const Top top = top_of(logits, 333, 3);
  EXPECT_EQ(top.indices, (std::vector<int32_t>{332, 331, 330, 0, 1, 2}));
}

TEST_P(TopK, NeverReturnsForbiddenTokens) {
  std::vector<float> logits(40, kNever);
  logits[33] = -1e30F;
  const Top top = top_of(logits, 40, 2);
  EXPECT_EQ(top.indices, (std::vector<int32_t>{33, -1}));
  EXPECT_EQ(top.log_sums[0], -1e30F);
  EXPECT_EQ(top_of(std::vector<float>(40, kNever), 40, 1).log_sums[0], kNever);
  std::vector<float> many(5000, kNever);
  many[4321] = many[77] = 2;
  EXPECT_EQ(top_of(many, 5000, 4).indices, (std::vector<int32_t>{77, 4321, -1, -1}));
}

TEST_P(TopK, LargeLogitsDoNotOverflow) {
  EXPECT_NEAR(top_of({1000, 1000, -1000}, 3, 1).log_sums[0], 1000 + std::log(2.0), 1e-4);
}

TEST_P(TopK, ReportsNanAndInfinity) {
  std::vector<float> logits(50, 1.0F);
  logits[20] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(top_of(logits, 50, 1).log_sums[0]));
  EXPECT_TRUE(std::isnan(top_of(std::vector<float>(50, logits[20]), 50, 1).log_sums[0]));
  std::vector<float> many(5000, logits[20]);
  for (size_t c = 0; c < many.size(); c += 5) many[c] = static_cast<float>(c);
  const Top top = top_of(many, 5000, 3);
  EXPECT_TRUE(std::isnan(top.log_sums[0]));
  EXPECT_EQ(top.indices, (std::vector<int32_t>{4995, 4990, 4985}));
}

TEST_P(TopK, ARowDependsOnItselfAlone) {
  Random random(RandomKey::from_seed(2));
  std::vector<float> logits(5 * 1003);
  for (float& z : logits) z = static_cast<float>(random.normal());
  const Top all = top_of(logits, 1003, 4);
  const Top last = top_of({logits.end() - 1003, logits.end()}, 1003, 4);
  EXPECT_EQ(last.log_sums[0], all.log_sums[4]);
  EXPECT_TRUE(std::equal(last.indices.begin(), last.indices.end(), all.indices.end() - 4));
}

INSTANTIATE_TEST_SUITE_P(Isa, TopK, testing::ValuesIn(available_isas()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace heed
