#include "kernels/gemm/gemm_amx.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/gemm_amx.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/amx/bf16_split-inl.h"
#include "kernels/gemm/amx/int8_slices_epilogue-inl.h"
#include "kernels/gemm/amx/int8_slices_pack-inl.h"
#include "kernels/gemm/pack_both_driver-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

struct Int8SlicesKernel {
  static constexpr int64_t kPanel = amx::kTileRows, kGroupPanels = 2, kScales = amx::kTileRows;
  static constexpr int64_t kStepDwords = kSlicedTileDwords;
  static int64_t kc(int64_t k) { return int8_slices_kc<kPackBothInt8SlicesKc>(k); }
  static int64_t steps(int64_t k) { return int8_steps(k); }
  static void pack(const Operand& o, int64_t begin, int64_t k, int64_t k_end, uint32_t* dwords,
                   float* scales) {
    pack_sliced_panel(o, begin, k, k_end, dwords, scales);
  }

  HWY_INLINE void multiply(const PackedPanel& a, const PackedPanel& b, int64_t k_steps, const BlockOfC& block,
                           const BlockOfC& /*next_c*/, PacedPrefetch& prefetch) {
    pipeline.multiply(a.dwords, b.dwords, k_steps,
                      {block.rows, block.columns, a.scales, b.scales, block.c, block.c0},
                      [&](auto product) HEED_INLINE_LAMBDA {
                        if constexpr (product == 0) prefetch();
                      });
  }
  void finish() { pipeline.finish(); }

  SlicedBlockPipeline pipeline;
};

struct Bf16Kernel {
  static constexpr int64_t kPanel = kAmxMr, kGroupPanels = 1, kScales = 0;
  static_assert(kAmxMr == kAmxNr);
  static constexpr int64_t kStepDwords = kPanel / amx::kTileRows * kTileDwords;
  using Numbers = Bf16Numbers<1>;

  static int64_t kc(int64_t k) { return std::min(kPackBothBf16Kc, k); }
  static int64_t steps(int64_t k) { return (k + kBf16Step - 1) / kBf16Step; }
  static void pack(const Operand& o, int64_t begin, int64_t k, int64_t k_end, uint32_t* dwords, float*) {
    const Operand part = o.up_to(k_end);
    const int64_t size = std::min(kPanel, o.size - begin);
    for (int64_t i = 0; i < size; i += amx::kTileRows) {
      uint32_t* to = dwords + i / amx::kTileRows * kTileDwords;
      for (int64_t at = k; at < k_end; at += kBf16Step, to += kStepDwords) {
        pack_bf16_tile<1>(part, begin + i, at, to);
      }
    }
  }

  HWY_INLINE void multiply(const PackedPanel& a, const PackedPanel& b, int64_t k_steps, const BlockOfC& block,
                           const BlockOfC& next_c, PacedPrefetch& prefetch) {
    PacedPrefetch prefetch_c(next_c.c.data, next_c.c.stride, next_c.rows, next_c.columns, k_steps);
    const auto interleave = [&]() HEED_INLINE_LAMBDA {
      prefetch();
      prefetch_c();
    };
    if (block.rows % amx::kTileRows == 0 && block.columns % amx::kTileRows == 0) {
      multiply_panels(a, b, k_steps, block, block.c0, block.c, interleave);
      return;
    }
    // C ends within a tile: through a copy.
    alignas(64) float copy[kAmxMr * kAmxNr];
    const bool adds = block.c0.data != nullptr;
    for (int64_t row = 0; adds && row < block.rows; ++row) {
      std::copy_n(block.c0.data + row * block.c0.stride, block.columns, copy + row * kAmxNr);
    }
    multiply_panels(a, b, k_steps, block, {adds ? copy : nullptr, kAmxNr}, {copy, kAmxNr}, interleave);
    for (int64_t row = 0; row < block.rows; ++row) {
      std::copy_n(copy + row * kAmxNr, block.columns, block.c.data + row * block.c.stride);
    }
  }
  void finish() {}

 private:
  static PackedTiles tiles_of(const PackedPanel& panel) {
    return {.data = reinterpret_cast<const char*>(panel.dwords),
            .row_stride = amx::kTileRowBytes,
            .tile_stride = kTileDwords * amx::kDwordBytes,
            .part_stride = 0,
            .k_stride = kStepDwords * amx::kDwordBytes};
  }
  template <class Interleave>
  static HWY_INLINE void multiply_panels(const PackedPanel& a, const PackedPanel& b, int64_t k_steps,
                                         const BlockOfC& block, const MatrixBlock<const float>& c0,
                                         const MatrixBlock<float>& c, const Interleave& interleave) {
    const PackedTiles x = tiles_of(a), w = tiles_of(b);
    const bool rows = block.rows > amx::kTileRows, columns = block.columns > amx::kTileRows;
    if (rows && columns) multiply_tiles<Numbers, 2, 2>(x, w, k_steps, c0, c, interleave);
    if (rows && !columns) multiply_tiles<Numbers, 2, 1>(x, w, k_steps, c0, c, interleave);
    if (!rows && columns) multiply_tiles<Numbers, 1, 2>(x, w, k_steps, c0, c, interleave);
    if (!rows && !columns) multiply_tiles<Numbers, 1, 1>(x, w, k_steps, c0, c, interleave);
  }
};

void gemm_amx_int8_slices(const GemmArguments<float>& g) {
  gemm_pack_both<Int8SlicesKernel>(g);
}

void gemm_amx_bf16(const GemmArguments<float>& g) {
  gemm_pack_both<Bf16Kernel>(g);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE
namespace heed {

void gemm_amx_int8_slices([[maybe_unused]] const GemmArguments<float>& arguments) {
  HEED_CHECK(internal::has_amx());
#if HEED_AMX && HWY_TARGETS & HWY_AVX3
  N_AVX3::gemm_amx_int8_slices(arguments);
#endif
}

void gemm_amx_bf16([[maybe_unused]] const GemmArguments<float>& arguments) {
  HEED_CHECK(internal::has_amx());
#if HEED_AMX && HWY_TARGETS & HWY_AVX3
  N_AVX3::gemm_amx_bf16(arguments);
#endif
}

}  // namespace heed
#endif
