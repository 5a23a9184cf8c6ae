#include "kernels/gemm/gemm_pack_both.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/gemm_pack_both.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/amx/bf16_split-inl.h"
#include "kernels/gemm/amx/int8_slices_epilogue-inl.h"
#include "kernels/gemm/amx/int8_slices_pack-inl.h"
#include "kernels/gemm/dot_bf16-inl.h"
#include "kernels/gemm/pack_both_driver-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

struct Int8SlicesKernel {
  using Configuration = amx::TileConfig;
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

/// In tiles.
struct AmxBf16 {
  using Configuration = amx::TileConfig;
  static constexpr int64_t kKc = kPackBothBf16Kc;

  /// C = C0 + A B for the whole tiles that hold a block.
  template <class Interleave>
  static HWY_INLINE void multiply_panels(const PackedPanel& a, const PackedPanel& b, int64_t k_steps,
                                         const BlockOfC& block, const Interleave& interleave) {
    const PackedTiles x = tiles_of(a), w = tiles_of(b);
    const bool rows = block.rows > amx::kTileRows, columns = block.columns > amx::kTileRows;
    using Numbers = Bf16Numbers<1>;
    if (rows && columns) multiply_tiles<Numbers, 2, 2>(x, w, k_steps, block.c0, block.c, interleave);
    if (rows && !columns) multiply_tiles<Numbers, 2, 1>(x, w, k_steps, block.c0, block.c, interleave);
    if (!rows && columns) multiply_tiles<Numbers, 1, 2>(x, w, k_steps, block.c0, block.c, interleave);
    if (!rows && !columns) multiply_tiles<Numbers, 1, 1>(x, w, k_steps, block.c0, block.c, interleave);
  }

 private:
  static PackedTiles tiles_of(const PackedPanel& panel) {
    return {.data = reinterpret_cast<const char*>(panel.dwords),
            .row_stride = amx::kTileRowBytes,
            .tile_stride = kTileDwords * amx::kDwordBytes,
            .part_stride = 0,
            .k_stride = kTilesM * kTileDwords * amx::kDwordBytes};
  }
};

/// In vectors, from the same packed panels: 8 x 32 of C in 16 accumulators. Each step along K, a dword of two
/// bf16 numbers, takes two vectors of B and eight broadcast dwords of A.
struct VectorBf16 {
  struct Configuration {};
  static constexpr int64_t kKc = kPackBothVectorBf16Kc;

  template <class Interleave>
  static HWY_INLINE void multiply_panels(const PackedPanel& a, const PackedPanel& b, int64_t k_steps,
                                         const BlockOfC& block, const Interleave& interleave) {
    for (int64_t row = 0; row < block.rows; row += kRows) {
      const uint32_t* const rows_of_a =
          a.dwords + row / amx::kTileRows * kTileDwords + row % amx::kTileRows * kRowDwords;
      const auto only_once = [&]() HEED_INLINE_LAMBDA {
        if (row == 0) interleave();
      };
      if (block.columns > amx::kTileRows) {
        multiply_rows<2>(rows_of_a, b.dwords, k_steps, row, block, only_once);
      } else {
        multiply_rows<1>(rows_of_a, b.dwords, k_steps, row, block, only_once);
      }
    }
  }

 private:
  static constexpr int kRows = 8;

  template <int kVectors, class Interleave>
  static HWY_INLINE void multiply_rows(const uint32_t* a, const uint32_t* b, int64_t k_steps, int64_t row,
                                       const BlockOfC& block, const Interleave& interleave) {
    const Floats d;
    hn::Vec<Floats> sums[kRows * kVectors];
    const auto for_each_sum = [&](const auto& body) HEED_INLINE_LAMBDA {
      unroll<kRows>([&](auto r) HEED_INLINE_LAMBDA {
        unroll<kVectors>([&](auto v) HEED_INLINE_LAMBDA { body(sums[r * kVectors + v], r, v); });
      });
    };
    for_each_sum([&](auto& sum, int64_t r, int64_t v) HEED_INLINE_LAMBDA {
      sum = block.c0.data == nullptr
                ? hn::Zero(d)
                : hn::LoadU(d, block.c0.data + (row + r) * block.c0.stride + v * amx::kTileRows);
    });
    for (int64_t step = 0; step < k_steps; ++step, a += kStepDwords, b += kStepDwords) {
      interleave();
      for (int64_t k = 0; k < kRowDwords; ++k) {
        hn::Vec<Dwords> of_b[kVectors];
        unroll<kVectors>([&](auto v) HEED_INLINE_LAMBDA {
          of_b[v] = hn::LoadU(Dwords(), b + v * kTileDwords + k * kRowDwords);
        });
        unroll<kRows>([&](auto r) HEED_INLINE_LAMBDA {
          const auto of_a = hn::Set(Dwords(), a[r * kRowDwords + k]);
          unroll<kVectors>([&](auto v)
                               HEED_INLINE_LAMBDA { dot_pairs_bf16(sums[r * kVectors + v], of_a, of_b[v]); });
        });
      }
    }
    for_each_sum([&](auto& sum, int64_t r, int64_t v) HEED_INLINE_LAMBDA {
      hn::StoreU(sum, d, block.c.data + (row + r) * block.c.stride + v * amx::kTileRows);
    });
  }

  static constexpr int64_t kStepDwords = kTilesM * kTileDwords;
};

/// Unit: AmxBf16 or VectorBf16.
template <class Unit>
struct Bf16Kernel {
  using Configuration = typename Unit::Configuration;
  static constexpr int64_t kPanel = kAmxMr, kGroupPanels = 1, kScales = 0;
  static_assert(kAmxMr == kAmxNr);
  static constexpr int64_t kStepDwords = kPanel / amx::kTileRows * kTileDwords;

  static int64_t kc(int64_t k) { return std::min(Unit::kKc, k); }
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
      Unit::multiply_panels(a, b, k_steps, block, interleave);
      return;
    }
    // C ends within a tile: through a copy.
    alignas(64) float copy[kAmxMr * kAmxNr];
    const bool adds = block.c0.data != nullptr;
    for (int64_t row = 0; adds && row < block.rows; ++row) {
      std::copy_n(block.c0.data + row * block.c0.stride, block.columns, copy + row * kAmxNr);
    }
    const BlockOfC through_copy{.rows = block.rows,
                                .columns = block.columns,
                                .c = {copy, kAmxNr},
                                .c0 = {adds ? copy : nullptr, kAmxNr}};
    Unit::multiply_panels(a, b, k_steps, through_copy, interleave);
    for (int64_t row = 0; row < block.rows; ++row) {
      std::copy_n(copy + row * kAmxNr, block.columns, block.c.data + row * block.c.stride);
    }
  }
  void finish() {}
};

void gemm_amx_int8_slices(const GemmArguments<float>& g) {
  gemm_pack_both<Int8SlicesKernel>(g);
}

void gemm_amx_bf16(const GemmArguments<float>& g) {
  gemm_pack_both<Bf16Kernel<AmxBf16>>(g);
}

void gemm_vector_bf16(const GemmArguments<float>& g) {
  gemm_pack_both<Bf16Kernel<VectorBf16>>(g);
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

void gemm_vector_bf16([[maybe_unused]] const GemmArguments<float>& arguments) {
  HEED_CHECK(internal::has_avx512_bf16());
#if HEED_AMX && HWY_TARGETS & HWY_AVX3
  N_AVX3::gemm_vector_bf16(arguments);
#endif
}

}  // namespace heed
#endif
