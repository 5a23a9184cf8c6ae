#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/stop.h"

namespace heed {
namespace {

class ThreadPoolTest : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, ::testing::Values(1, 2, 3, 8));

TEST_P(ThreadPoolTest, EveryItemOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.threads(), GetParam());
  for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{7}, size_t{1000}}) {
    std::vector<int> visits(count, 0);  // not atomic: items must not share
    pool.run(count, [&](size_t item) { ++visits[item]; });
    EXPECT_EQ(visits, std::vector<int>(count, 1));
  }
}

TEST_P(ThreadPoolTest, RunWaitsForAllItems) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 300; ++round) {
    std::vector<size_t> squares(17, 0);
    pool.run(squares.size(), [&](size_t item) { squares[item] = item * item; });
    EXPECT_EQ(std::accumulate(squares.begin(), squares.end(), size_t{0}), 16U * 17U * 33U / 6U);
  }
}

TEST_P(ThreadPoolTest, ExceptionsAreRethrown) {
  ThreadPool pool(GetParam());
  std::atomic<size_t> begun{0}, ended{0};
  const auto body = [&](size_t item) {
    ++begun;
    if (item == 3) throw std::runtime_error("item " + std::to_string(item));
    ++ended;
  };
  try {
    pool.run(1'000'000, body);
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "item 3");
  }
  EXPECT_EQ(begun, ended + 1) << "an item was still under way";
  EXPECT_LT(begun, 1'000'000U) << "items not yet begun should be dropped";

  std::atomic<int> items{0};
  pool.run(10, [&](size_t) { ++items; });
  EXPECT_EQ(items, 10);
}

TEST_P(ThreadPoolTest, ThrowingFromEveryItemThrowsOnce) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(pool.run(20, [](size_t) { throw std::runtime_error("all"); }), std::runtime_error);
  }
}

TEST_P(ThreadPoolTest, NestedRunsUseTheCallingThread) {
  ThreadPool pool(GetParam());
  std::vector<std::vector<int>> visits(6, std::vector<int>(5, 0));
  std::atomic<int> strangers{0};
  pool.run(visits.size(), [&](size_t outer) {
    const auto thread = std::this_thread::get_id();
    pool.run(visits[outer].size(), [&](size_t inner) {
      ++visits[outer][inner];
      if (std::this_thread::get_id() != thread) ++strangers;
    });
  });
  EXPECT_EQ(visits, std::vector<std::vector<int>>(6, std::vector<int>(5, 1)));
  EXPECT_EQ(strangers, 0);
}

TEST_P(ThreadPoolTest, ConcurrentCallersAreSerialized) {
  ThreadPool pool(GetParam());
  constexpr size_t kCallers = 4, kItems = 50;
  std::vector<std::vector<int>> visits(kCallers, std::vector<int>(kItems, 0));
  std::vector<std::thread> callers;
  for (size_t caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 20; ++round) {
        pool.run(kItems, [&](size_t item) { ++visits[caller][item]; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(visits, std::vector<std::vector<int>>(kCallers, std::vector<int>(kItems, 20)));
}

TEST(ThreadPool, ItemsRunConcurrently) {
  ThreadPool pool(2);
  std::atomic<int> arrived{0};
  std::atomic<bool> met{true};
  pool.run(2, [&](size_t) {  // each item waits for the other one
    ++arrived;
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (arrived < 2 && met) {
      if (std::chrono::steady_clock::now() > patience) met = false;
      std::this_thread::yield();
    }
  });
  EXPECT_TRUE(met);
}

TEST(ThreadPool, ZeroMeansOnePerProcessor) {
  EXPECT_GE(available_processors(), 1);
  EXPECT_EQ(ThreadPool().threads(), available_processors());
}

TEST(ThreadPool, StartsOnlyNecessaryThreads) {
  const auto threads_now = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  ThreadPool other(2);
  other.run(2, [](size_t) {});  // with the first thread, the thread sanitizer starts one of its own
  const auto before = threads_now();
  ThreadPool pool(1000);
  EXPECT_EQ(pool.threads(), 1000);
  EXPECT_EQ(threads_now(), before);
  std::atomic<int> items{0};
  pool.run(1, [&](size_t) { ++items; });
  EXPECT_EQ(threads_now(), before);
  pool.run(3, [&](size_t) { ++items; });
  EXPECT_EQ(threads_now(), before + 2);
  pool.run(2, [&](size_t) { ++items; });
  EXPECT_EQ(threads_now(), before + 2);
  EXPECT_EQ(items, 6);
}

TEST_P(ThreadPoolTest, ItemsRunInTheStopScopeOfTheCaller) {
  ThreadPool pool(GetParam());
  std::atomic<bool> stop{false};
  const auto run = [&] {
    pool.run(10'000, [&](size_t item) {
      if (item == 3) stop = true;
      StopScope::check();
    });
  };
  EXPECT_NO_THROW(run()) << "without a scope";
  stop = false;
  const StopScope scope{Stop(&stop)};
  EXPECT_THROW(run(), Cancelled);
  {
    const StopScope never{Stop()};
    EXPECT_NO_THROW(run()) << "the scope of another run is over";
  }
}

}  // namespace
}  // namespace heed
