// The AMX micro-kernel for int8 slices: a block of 16 x 16 of C, with an accumulator tile for each weight of
// 2^8.
//
//                                                   for each kInt8Step of K:
//            B slice (tmm7): B0, then B1, then B2     load A0, A1, A2
//                        +-----------+                load B0:  p0 += A0 B0   p1 += A1 B0   p2 += A2 B0
//                        | 16 columns|                load B1:  p1 += A0 B1   p2 += A1 B1   p3 += A2 B1
//                        +-----------+                load B2:  p2 += A0 B2   p3 += A1 B2
//   +-----------------+  +===========+
//   | A0, A1, A2      |  | p0 (tmm0) |               8 products for 6 loads; slice products of the same
//   | (tmm4 to tmm6)  |  | ...       |               weight share an accumulator. MR = NR = 16.
//   | 16 rows each    |  | p3 (tmm3) |
//   +-----------------+  +-----------+
//
// Included once for each instruction set.

#if defined(HEED_KERNELS_INT8_SLICES_MICROKERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_INT8_SLICES_MICROKERNEL_INL_H_
#undef HEED_KERNELS_INT8_SLICES_MICROKERNEL_INL_H_
#else
#define HEED_KERNELS_INT8_SLICES_MICROKERNEL_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/gemm/amx/int8_slices-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// p0 to p3 of 16 rows and 16 columns.
constexpr int kSliceSums = kSlices + 1;
using SliceSums = int32_t[kSliceSums][kTileDwords];

/// Calls interleave(step, n) after slice product n of a step: instructions that run while the tile unit
/// multiplies.
template <class Interleave>
HWY_INLINE void multiply_slices(const uint32_t* a, const uint32_t* b, int64_t k_steps, SliceSums& sums,
                                const Interleave& interleave) {
  constexpr int kA = kSliceSums, kB = kA + kSlices;
  const auto load = [&](auto to, const uint32_t* dwords, auto slice) HEED_INLINE_LAMBDA {
    amx::load<decltype(to)::value>(dwords + slice * kTileDwords, amx::kTileRowBytes);
  };
  unroll<kSliceSums>([&](auto n) HEED_INLINE_LAMBDA { amx::zero<n>(); });
  for (int64_t step = 0; step < k_steps; ++step, a += kSlicedTileDwords, b += kSlicedTileDwords) {
    unroll<kSlices>([&](auto slice_of_b) HEED_INLINE_LAMBDA {
      constexpr int kOfB = decltype(slice_of_b)::value;
      load(std::integral_constant<int, kB>(), b, slice_of_b);
      unroll<std::min(kSlices, kSliceSums - kOfB)>([&](auto slice_of_a) HEED_INLINE_LAMBDA {
        constexpr int kOfA = decltype(slice_of_a)::value;
        if constexpr (kOfB == 0) load(std::integral_constant<int, kA + kOfA>(), a, slice_of_a);
        amx::dot_s8s8<kOfA + kOfB, kA + kOfA, kB>();
        interleave(step, std::integral_constant<int, kOfB * kSlices + kOfA>());
      });
    });
  }
  unroll<kSliceSums>([&](auto n) HEED_INLINE_LAMBDA { amx::store<n>(sums[n], amx::kTileRowBytes); });
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
