// Packing for the int8 slices micro-kernel: panels of 16 rows of A or 16 columns of B.
//
//   panel: (k steps, 3 slices, 16 tile rows, 16 dwords), and 16 scales
//
// A dword holds the slices of k, k + 16, k + 32 and k + 48, in A as in B, so that vectors are used as they
// are loaded. Included once for each instruction set.

#if defined(HEED_KERNELS_INT8_SLICES_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_INT8_SLICES_PACK_INL_H_
#undef HEED_KERNELS_INT8_SLICES_PACK_INL_H_
#else
#define HEED_KERNELS_INT8_SLICES_PACK_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/gemm/amx/int8_slices-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// One row of A of a panel, from contiguous numbers; zeros up to a whole step.
HWY_INLINE void pack_sliced_row(const float* x, int64_t k_size, hn::Vec<Floats> to_fixed, uint32_t* dwords) {
  const Floats d;
  const auto pack_step = [&](const float* from) HEED_INLINE_LAMBDA {
    slice_numbers(hn::LoadU(d, from), hn::LoadU(d, from + kRowDwords), hn::LoadU(d, from + 2 * kRowDwords),
                  hn::LoadU(d, from + 3 * kRowDwords), to_fixed, dwords);
    dwords += kSlicedTileDwords;
  };
  int64_t k = 0;
  for (; k + kInt8Step <= k_size; k += kInt8Step) pack_step(x + k);
  if (k == k_size) return;
  alignas(64) float rest[kInt8Step] = {};
  std::copy_n(x + k, k_size - k, rest);
  pack_step(rest);
}

/// The panel of 16 rows or columns from `begin` on and [k_begin, k_end) of K.
inline HWY_NOINLINE void pack_sliced_panel(const Operand& o, int64_t begin, int64_t k_begin, int64_t k_end,
                                           uint32_t* dwords, float* scales) {
  constexpr int64_t kSize = amx::kTileRows;
  const Floats d;
  const bool is_a = o.side == Side::kA;
  const int64_t size = std::min(kSize, o.size - begin), k_size = k_end - k_begin;
  std::fill_n(scales, kSize, 0.0f);
  if (o.k_contiguous) {
    for (int64_t i = 0; i < size; ++i) {
      const float* const x = o.at(begin + i, k_begin);
      scales[i] = scale_of(x, k_size);
      if (!is_a) continue;
      pack_sliced_row(x, k_size, to_fixed_point(hn::Set(d, scales[i])), dwords + i * kRowDwords);
    }
    if (is_a) return;
  } else {
    scales_of_columns(o.at(begin, k_begin), o.stride, size, k_size, scales);
  }
  const Operand part = o.up_to(k_end);
  alignas(64) float copy[kSize * kInt8Step];
  for (int64_t k = k_begin; k < k_end; k += kInt8Step, dwords += kSlicedTileDwords) {
    const FloatBlock block = block_of<kInt8Step>(part, begin, k, copy);
    if (is_a) {
      for (int64_t i = 0; i < kSize; ++i) {
        pack_sliced_row(block.rows + i * block.stride, kInt8Step, to_fixed_point(hn::Set(d, scales[i])),
                        dwords + i * kRowDwords);
      }
      continue;
    }
    const auto to_fixed = to_fixed_point(hn::LoadU(d, scales));
    for (int64_t r = 0; r < kRowDwords; ++r) {
      const auto row_of_k = [&](int64_t n) HEED_INLINE_LAMBDA {
        return hn::LoadU(d, block.rows + (r + n * kRowDwords) * block.stride);
      };
      slice_numbers(row_of_k(0), row_of_k(1), row_of_k(2), row_of_k(3), to_fixed, dwords + r * kRowDwords);
    }
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
