#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

// Known answers of the reference implementation (Random123, kat_vectors: philox4x32 10).
TEST(Philox, KnownAnswers) {
  const std::array<uint32_t, 4> zero{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  EXPECT_EQ(philox({0, 0}, 0), zero);
}

TEST(Random, PositionIsItsWholeState) {
  const RandomKey key = RandomKey::from_seed(7);
  Random whole(key);
  for (int n = 0; n < 5; ++n) whole.next();
  Random tail(key, 5);
  for (int n = 0; n < 20; ++n) EXPECT_EQ(whole.next(), tail.next());
  EXPECT_NE(Random(key).next(), Random(RandomKey::from_seed(8)).next());
}

TEST(Random, NormalHasItsMoments) {
  Random random(RandomKey::from_seed(1));
  const int count = 100000;
  double sum = 0, squares = 0;
  for (int n = 0; n < count; ++n) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / count, 0, 4 / std::sqrt(count));  // four standard errors
  EXPECT_NEAR(squares / count, 1, 4 * std::sqrt(2.0 / count));
}

TEST(Shuffle, IsAPermutation) {
  std::vector<int> values(100);
  for (int n = 0; n < 100; ++n) values[n] = n;
  auto shuffled = values;
  Random random(RandomKey::from_seed(3));
  shuffle(shuffled, random);
  EXPECT_NE(shuffled, values);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, values);
}

}  // namespace
}  // namespace heed
