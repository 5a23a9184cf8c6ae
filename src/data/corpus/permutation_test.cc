#include "data/corpus/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace heed {
namespace {

std::vector<uint64_t> order(uint64_t seed, uint64_t size) {
  const Permutation permutation(RandomKey::from_seed(seed), size);
  std::vector<uint64_t> numbers;
  for (uint64_t n = 0; n < size; ++n) numbers.push_back(permutation(n));
  return numbers;
}

TEST(Permutation, IsABijectionForEverySize) {
  std::vector<uint64_t> sizes{1000, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65537, 100003};
  for (uint64_t size = 1; size <= 140; ++size) sizes.push_back(size);
  for (const uint64_t size : sizes) {
    std::vector<bool> seen(size);
    for (const uint64_t number : order(size, size)) {
      ASSERT_LT(number, size);
      ASSERT_FALSE(seen[number]) << "twice among " << size;
      seen[number] = true;
    }
  }
}

// A range of 2^40 cannot be listed; that numbers stay inside and differ can be seen on a part of it.
TEST(Permutation, ReachesFarBeyondMemory) {
  const uint64_t size = (uint64_t{1} << 40) + 12345;
  const Permutation permutation(RandomKey::from_seed(3), size);
  std::vector<uint64_t> numbers;
  double sum = 0;
  const int count = 20000;
  for (int n = 0; n < count; ++n) {
    numbers.push_back(permutation(static_cast<uint64_t>(n)));
    ASSERT_LT(numbers.back(), size);
    sum += static_cast<double>(numbers.back()) / static_cast<double>(size);
  }
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end());
  EXPECT_NEAR(sum / count, 0.5, 4 * std::sqrt(1.0 / 12 / count));  // four standard errors of a uniform mean
}

TEST(Permutation, DependsOnTheKey) {
  EXPECT_EQ(order(1, 1000), order(1, 1000));
  const auto first = order(1, 1000), second = order(2, 1000);
  int equal = 0;
  for (size_t n = 0; n < first.size(); ++n) equal += first[n] == second[n];
  EXPECT_LT(equal, 8);  // one is expected, with a Poisson distribution: P(8 or more) is 1e-5
}

// Each number is as likely as any other to come first, and neighbours do not stay neighbours.
TEST(Permutation, LooksRandomForSmallSizes) {
  for (const uint64_t size : {3u, 7u, 10u, 33u}) {
    const int seeds = 4000;
    std::vector<int> first(size), gap(size);
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      const Permutation permutation(RandomKey::from_seed(seed), size);
      const uint64_t a = permutation(0), b = permutation(1);
      ++first[a];
      ++gap[(b + size - a) % size];
    }
    const double n = static_cast<double>(size);
    const double error_first = 5 * std::sqrt(seeds * (1 / n) * (1 - 1 / n));
    const double error_gap = 5 * std::sqrt(seeds * (1 / (n - 1)) * (1 - 1 / (n - 1)));
    EXPECT_EQ(gap[0], 0);
    for (uint64_t k = 0; k < size; ++k) {
      EXPECT_NEAR(first[k], seeds / n, error_first) << k << " of " << size;
      EXPECT_NEAR(gap[k], k > 0 ? seeds / (n - 1) : 0, error_gap) << k << " of " << size;
    }
  }
}

}  // namespace
}  // namespace heed
