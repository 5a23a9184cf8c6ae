#include "base/memory_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "base/rng.h"

namespace heed {
namespace {

TEST(MemoryPool, AlignmentAndSize) {
  std::vector<size_t> sizes = {0, 1, 63, 64, 65, 79, 80, 81};
  for (size_t power = 128; power <= (size_t{1} << 22); power *= 2) {
    for (const size_t quarters : {4, 5, 6, 7}) {
      for (const size_t step : {0, 1, 2}) sizes.push_back(power / 4 * quarters + step - 1);
    }
  }
  std::vector<char*> blocks;
  for (const size_t size : sizes) {
    auto* block = static_cast<char*>(pool_allocate(size));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u) << size;
    std::memset(block, static_cast<int>(blocks.size()), size);
    blocks.push_back(block);
  }
  // No block reaches into another: each still holds what was written.
  for (size_t n = 0; n < sizes.size(); ++n) {
    for (size_t at = 0; at<sizes[n]; at += sizes[n]> 4096 ? 509 : 1) {
      ASSERT_EQ(static_cast<unsigned char>(blocks[n][at]), static_cast<unsigned char>(n)) << sizes[n];
    }
    pool_free(blocks[n]);
  }
}

TEST(MemoryPool, ReusesMemoryOfTheSameSizes) {
  const auto step = [] {
    std::vector<void*> blocks;
    for (size_t size = 1; size < 3'000'000; size = size * 3 + 7) blocks.push_back(pool_allocate(size));
    for (void* block : blocks) pool_free(block);
  };
  const uint64_t before = pool_statistics().system_allocations;
  pool_trim();
  step();
  const PoolStatistics first = pool_statistics();
  EXPECT_GT(first.system_allocations, before);
  for (int n = 0; n < 100; ++n) step();
  EXPECT_EQ(pool_statistics().system_allocations, first.system_allocations);
  EXPECT_EQ(pool_statistics().bytes_from_system, first.bytes_from_system);
}

TEST(MemoryPool, ReusesOnlyWithinAClassOfSizes) {
  pool_trim();
  void* block = pool_allocate(1000);
  pool_free(block);
  void* near = pool_allocate(1024);  // 1000 and 1024 are in the class of 897 to 1024
  EXPECT_EQ(near, block);
  void* far = pool_allocate(1025);
  EXPECT_NE(far, block);
  pool_free(near);
  pool_free(far);
}

TEST(MemoryPool, WastesAtMostAQuarter) {
  for (const size_t size : {64u, 65u, 100u, 1000u, 1025u, 4097u, 1'000'000u, 5'000'001u}) {
    pool_trim();
    const uint64_t before = pool_statistics().bytes_from_system;
    void* block = pool_allocate(size);
    const uint64_t taken = pool_statistics().bytes_from_system - before;
    EXPECT_GE(taken, size);
    EXPECT_LE(taken, size + size / 4);
    pool_free(block);
  }
}

TEST(MemoryPool, TrimReleasesUnusedMemory) {
  pool_trim();
  const uint64_t before = pool_statistics().bytes_from_system;
  void* used = pool_allocate(1 << 16);
  void* unused = pool_allocate(1 << 20);
  std::memset(used, 7, 1 << 16);
  const uint64_t in_use = pool_statistics().bytes_in_use;
  pool_free(unused);
  EXPECT_EQ(pool_statistics().bytes_in_use, in_use - (1 << 20));
  EXPECT_EQ(pool_statistics().bytes_from_system, before + (1 << 16) + (1 << 20));
  pool_trim();
  EXPECT_EQ(pool_statistics().bytes_from_system, before + (1 << 16));
  EXPECT_EQ(static_cast<char*>(used)[65535], 7);
  pool_free(used);
}

TEST(MemoryPool, TrimKeepsWhatSharesHugePagesWithBlocksInUse) {
  pool_trim();
  const uint64_t before = pool_statistics().bytes_from_system;
  constexpr size_t kSize = 1 << 20;
  std::vector<char*> blocks;
  for (int n = 0; n < 100; ++n) {  // several regions
    blocks.push_back(static_cast<char*>(pool_allocate(kSize)));
    std::memset(blocks.back(), n, kSize);
  }
  for (size_t n = 0; n < blocks.size(); ++n) {
    if (n != 50) pool_free(blocks[n]);
  }
  pool_trim();
  const uint64_t kept = pool_statistics().bytes_from_system - before;
  EXPECT_GE(kept, kSize);
  EXPECT_LE(kept, 32 * kSize);
  for (size_t at = 0; at < kSize; at += 509) ASSERT_EQ(blocks[50][at], 50) << at;
  blocks[0] = static_cast<char*>(pool_allocate(kSize));  // a block of the same region, or of a new one
  std::memset(blocks[0], 1, kSize);
  EXPECT_EQ(blocks[50][kSize - 1], 50);
  pool_free(blocks[0]);
  pool_free(blocks[50]);
  pool_trim();
  EXPECT_EQ(pool_statistics().bytes_from_system, before);
}

TEST(MemoryPool, RefusesImpossibleSizesAndCountsNothing) {
  const PoolStatistics before = pool_statistics();
  for (const size_t size : {SIZE_MAX, SIZE_MAX / 2, (size_t{1} << 47) + 1}) {
    EXPECT_THROW(pool_allocate(size), std::bad_alloc) << size;
  }
  EXPECT_LE(pool_statistics().bytes_from_system, before.bytes_from_system);
  EXPECT_EQ(pool_statistics().system_allocations, before.system_allocations);
  pool_free(nullptr);
}

// Without this, reused memory would hide from the address sanitizer what it is there to find.
TEST(MemoryPool, TheAddressSanitizerKnowsWhatIsInUse) {
#if defined(__SANITIZE_ADDRESS__)
  auto* bytes = static_cast<volatile char*>(pool_allocate(70));
  bytes[69] = 1;
  EXPECT_DEATH(bytes[70] = 1, "use-after-poison");  // inside the block, beyond what was asked for
  pool_free(const_cast<char*>(bytes));
  EXPECT_DEATH(bytes[0] = 1, "use-after-poison");
  void* again = pool_allocate(72);  // of the same class, so the same block
  EXPECT_EQ(again, bytes);
  bytes[71] = 1;
  pool_free(again);
#else
  GTEST_SKIP() << "not built with the address sanitizer";
#endif
}

TEST(MemoryPool, IsSharedByThreads) {
  // Each thread fills its blocks with its own number; another's number in them would be memory given out
  // twice. Some blocks are freed by a thread that did not allocate them.
  constexpr int kThreads = 4;
  std::vector<std::vector<void*>> left_over(kThreads);
  std::vector<int> mistakes(kThreads, 0);
  std::vector<std::thread> threads;
  for (int id = 0; id < kThreads; ++id) {
    threads.emplace_back([&, id] {
      Random random(RandomKey::from_seed(50).fold(static_cast<uint64_t>(id)));
      std::vector<std::pair<unsigned char*, size_t>> blocks;
      for (int round = 0; round < 5000; ++round) {
        const size_t size = 1 + random.below(3000);
        auto* block = static_cast<unsigned char*>(pool_allocate(size));
        std::memset(block, id, size);
        blocks.emplace_back(block, size);
        if (blocks.size() < 16) continue;
        std::swap(blocks[random.below(blocks.size())], blocks.back());
        for (size_t at = 0; at < blocks.back().second; ++at) mistakes[id] += blocks.back().first[at] != id;
        pool_free(blocks.back().first);
        blocks.pop_back();
      }
      for (const auto& [block, size] : blocks) left_over[id].push_back(block);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(mistakes, std::vector<int>(kThreads, 0));
  for (const auto& blocks : left_over) {
    for (void* block : blocks) pool_free(block);
  }
}

TEST(PoolAllocator, ServesContainers) {
  std::vector<double, PoolAllocator<double>> values(1000, 1.5);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(values.data()) % 64, 0u);
  values.resize(5000, 2.5);
  EXPECT_EQ(values[999], 1.5);
  EXPECT_EQ(values[4999], 2.5);
  using Allocator = PoolAllocator<double>;
  EXPECT_THROW(Allocator().allocate(SIZE_MAX / 8), std::bad_alloc);
  EXPECT_THROW(Allocator().allocate(SIZE_MAX / 8 + 2), std::bad_alloc);  // bytes would wrap around to 8
}

}  // namespace
}  // namespace heed
