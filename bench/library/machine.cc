// What the machine can do at most, on one core: multiply-adds that wait for nothing, and reading memory.
#include <cstdint>
#include <string>
#include <vector>

#include "base/memory_pool.h"
#include "kernels/gemm/gemm.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "library/machine.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Enough sums that do not wait for each other to fill every unit for the length of a multiply-add.
constexpr int kChains = 12;

/// Returns what it computed, so that it must be computed.
float multiply_add(int64_t rounds, int64_t* operations) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.999f), term = hn::Set(d, 0.001f);
  hn::Vec<decltype(d)> sums[kChains];
  for (int chain = 0; chain < kChains; ++chain) sums[chain] = hn::Set(d, static_cast<float>(chain));
  for (int64_t round = 0; round < rounds; ++round) {
    for (auto& sum : sums) sum = hn::MulAdd(sum, factor, term);
  }
  for (int chain = 1; chain < kChains; ++chain) sums[0] = hn::Add(sums[0], sums[chain]);
  *operations = rounds * kChains * 2 * static_cast<int64_t>(hn::Lanes(d));
  return hn::GetLane(hn::SumOfLanes(d, sums[0]));
}

/// Reads all of a block once, in order, and returns what depends on all of it.
uint32_t read_memory(const uint32_t* words, int64_t count) {
  constexpr int64_t kAhead = 512;  // words: 2 KB, the best of 0 to 8 KB
  const hn::ScalableTag<uint32_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto even = hn::Zero(d), odd = hn::Zero(d);
  for (int64_t at = 0; at + 2 * lanes <= count; at += 2 * lanes) {
    __builtin_prefetch(words + at + kAhead);
    __builtin_prefetch(words + at + lanes + kAhead);
    even = hn::Xor(even, hn::LoadU(d, words + at));
    odd = hn::Xor(odd, hn::LoadU(d, words + at + lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Xor(even, odd)));
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_EXPORT(multiply_add);
HEED_EXPORT(read_memory);

namespace {
float dispatched_multiply_add(int64_t rounds, int64_t* operations) {
  return HEED_SELECT(multiply_add)(rounds, operations);
}
uint32_t dispatched_read_memory(const uint32_t* words, int64_t count) {
  return HEED_SELECT(read_memory)(words, count);
}
}  // namespace
}  // namespace heed

extern "C" {

/// Does that many rounds of float32 multiply-adds; the operations done are written to `operations`.
float heed_bench_multiply_add(int64_t rounds, int64_t* operations) {
  return heed::dispatched_multiply_add(rounds, operations);
}

/// Reads memory that no cache holds; the bytes read are written to `bytes`.
uint32_t heed_bench_read_memory(int64_t* bytes) {
  constexpr int64_t kWords = 64 << 20;
  static const std::vector<uint32_t, heed::PoolAllocator<uint32_t>> words(kWords, 1);
  *bytes = kWords * static_cast<int64_t>(sizeof(uint32_t));
  return heed::dispatched_read_memory(words.data(), kWords);
}

/// "avx512"
const char* heed_bench_isa() {
  static const std::string name = heed::isa_name();
  return name.c_str();
}

/// "oneDNN 2.6.3"
const char* heed_bench_gemm_library() {
  return heed::gemm_library();
}

}  // extern "C"
#endif
