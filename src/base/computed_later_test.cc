#include "base/computed_later.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace heed {
namespace {

TEST(ComputedLater, TheFirstUsesDoWithout) {
  const ComputedLater<int, 2> later;
  EXPECT_TRUE(later.is_early());
  EXPECT_TRUE(later.is_early());
  EXPECT_FALSE(later.is_early());
  int computed = 0;
  const auto compute = [&] { return ++computed; };
  EXPECT_EQ(later.value(compute), 1);
  EXPECT_EQ(later.value(compute), 1) << "once";
}

TEST(ComputedLater, ThreadsShareOneValue) {
  const ComputedLater<std::vector<int>, 100> later;
  std::atomic<int> early = 0, computed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n) {
        if (later.is_early()) {
          ++early;
          continue;
        }
        const std::vector<int>& value = later.value([&] {
          ++computed;
          return std::vector<int>{7};
        });
        if (value[0] != 7) ++computed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(early, 100);
  EXPECT_EQ(computed, 1);
}

}  // namespace
}  // namespace heed
