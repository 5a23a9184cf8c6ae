// How many sums of a product of floating point numbers are kept in registers. Included once for each
// instruction set.

#if defined(HEED_KERNELS_REGISTER_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_REGISTER_TILE_INL_H_
#undef HEED_KERNELS_REGISTER_TILE_INL_H_
#else
#define HEED_KERNELS_REGISTER_TILE_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// 6 rows of 4 vectors where there are 32 registers, of 2 where there are 16. Each multiply-add then waits for
// at most half a load. SSE has no load that puts a number of the left factor into all lanes: it is shuffled
// there, and with 3 rows of 4 vectors that is done half as often.
#if HWY_TARGET == HWY_SSE4
constexpr int kTileRows = 3, kTileVectors = 4;
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kTileRows = 6, kTileVectors = 4;
#else
constexpr int kTileRows = 6, kTileVectors = 2;
#endif

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
