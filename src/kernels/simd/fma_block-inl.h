// MR x NR of the micro-kernels for floating point: a block of C that the vector registers hold. Included once
// for each instruction set.

#if defined(HEED_KERNELS_FMA_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_FMA_BLOCK_INL_H_
#undef HEED_KERNELS_FMA_BLOCK_INL_H_
#else
#define HEED_KERNELS_FMA_BLOCK_INL_H_
#endif

#include "hwy/highway.h"

// Without HWY_BEFORE_NAMESPACE(), since there are no functions.
namespace heed::HWY_NAMESPACE {

// 6 rows of 4 vectors with 32 vector registers, of 2 with 16: 24 or 12 accumulators, 4 or 2 vectors of B, one
// number of A in all lanes. A multiply-add then needs at most half a load. SSE has no load that broadcasts: a
// number of A is shuffled, which 3 rows of 4 vectors do half as often.
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_WASM
constexpr int kFmaMr = 3, kFmaNrVectors = 4;
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kFmaMr = 6, kFmaNrVectors = 4;
#else
constexpr int kFmaMr = 6, kFmaNrVectors = 2;
#endif

}  // namespace heed::HWY_NAMESPACE

#endif
