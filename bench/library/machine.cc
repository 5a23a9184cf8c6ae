// What the machine can do at most: multiply-adds that wait for nothing, on one core.
#include <cstdint>
#include <string>

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

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_EXPORT(multiply_add);

namespace {
float dispatched_multiply_add(int64_t rounds, int64_t* operations) {
  return HEED_SELECT(multiply_add)(rounds, operations);
}
}  // namespace
}  // namespace heed

extern "C" {

/// Does that many rounds of float32 multiply-adds; the operations done are written to `operations`.
float heed_bench_multiply_add(int64_t rounds, int64_t* operations) {
  return heed::dispatched_multiply_add(rounds, operations);
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
