// The AMX micro-kernel for int8 and bf16: a block of 32 x 32 of C in four accumulator tiles.
//
//                  B0 (tmm6)   B1 (tmm7)        for each 64 bytes of K (64 int8 or 32 bf16 numbers):
//                +-----------+-----------+        load A0, A1, B0, B1
//                | 16 columns| 16 columns|        4 products: each loaded tile is used twice
//   +----------+ +===========+===========+
//   | A0 (tmm4)| | C00 (tmm0)| C01 (tmm1)|      MR = NR = 32: all eight tiles are in use.
//   +----------+ +-----------+-----------+
//   | A1 (tmm5)| | C10 (tmm2)| C11 (tmm3)|      With at most 16 rows left, A1, C10 and C11 are omitted.
//   +----------+ +-----------+-----------+
//
// Numbers may be split (bf16_split-inl.h): then a step along K has several products of split parts, for which
// A or B is loaded again. Included once for each instruction set.

#if defined(HEED_KERNELS_AMX_MICROKERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_AMX_MICROKERNEL_INL_H_
#undef HEED_KERNELS_AMX_MICROKERNEL_INL_H_
#else
#define HEED_KERNELS_AMX_MICROKERNEL_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/simd/amx.h"
#include "kernels/simd/unroll-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Tiles of a micro-kernel along M and N, and its size.
constexpr int kTilesM = 2, kTilesN = 2;
constexpr int64_t kAmxMr = kTilesM * amx::kTileRows, kAmxNr = kTilesN * amx::kTileRows;

/// Which split part of A is multiplied with which of B.
struct SplitProduct {
  int a, b;
};

// The type Numbers defines the element type:
//   Accumulator                     int32_t or float
//   kProducts, product<n>()         the split products of a step along K, in this order
//   dot<kC, kA, kB>()               the tile instruction

/// A packed operand: addresses of tiles. Distances are in bytes.
struct PackedTiles {
  const char* data;
  int64_t row_stride;   ///< between rows of a tile
  int64_t tile_stride;  ///< to the tile of the next 16 rows of A or columns of B
  int64_t part_stride;  ///< to the next split part
  int64_t k_stride;     ///< to the next step along K

  PackedTiles plus(int64_t bytes) const {
    return {data + bytes, row_stride, tile_stride, part_stride, k_stride};
  }
};

/// A block of a row-major matrix; stride 0 repeats one row.
template <typename T>
struct MatrixBlock {
  T* data = nullptr;
  int64_t stride = 0;
};

/// C = A B, or C0 + A B where c0 has data, for kRows x kColumns tiles. interleave() is called after each
/// split product: instructions that run while the tile unit multiplies.
template <class Numbers, int kRows, int kColumns, class Interleave>
HWY_INLINE void multiply_tiles(const PackedTiles& a, const PackedTiles& b, int64_t k_steps,
                               const MatrixBlock<const typename Numbers::Accumulator>& c0,
                               const MatrixBlock<typename Numbers::Accumulator>& c,
                               const Interleave& interleave) {
  constexpr int kFirstA = kTilesM * kTilesN, kFirstB = kFirstA + kTilesM;
  constexpr auto kBytes = static_cast<int64_t>(sizeof(typename Numbers::Accumulator));
  const auto address = [](const auto& block, auto row, auto column) HEED_INLINE_LAMBDA {
    return block.data + (row * block.stride + column) * amx::kTileRows;
  };
  const auto for_each_c = [](const auto& body) HEED_INLINE_LAMBDA {
    unroll<kRows>([&](auto row) HEED_INLINE_LAMBDA {
      unroll<kColumns>([&](auto column) HEED_INLINE_LAMBDA { body(row, column); });
    });
  };
  for_each_c([&](auto row, auto column) HEED_INLINE_LAMBDA {
    if (c0.data != nullptr) {
      amx::load<row * kTilesN + column>(address(c0, row, column), c0.stride * kBytes);
    } else {
      amx::zero<row * kTilesN + column>();
    }
  });
  for (int64_t step = 0; step < k_steps; ++step) {
    unroll<Numbers::kProducts>([&](auto n) HEED_INLINE_LAMBDA {
      constexpr int kNow = decltype(n)::value, kBefore = kNow == 0 ? 0 : kNow - 1;
      constexpr SplitProduct kProduct = Numbers::template product<kNow>(),
                             kLast = Numbers::template product<kBefore>();
      constexpr int64_t kPartA = kProduct.a, kPartB = kProduct.b;
      if constexpr (kNow == 0 || kLast.a != kProduct.a) {
        const char* const from = a.data + step * a.k_stride + kPartA * a.part_stride;
        unroll<kRows>([&](auto row) HEED_INLINE_LAMBDA {
          amx::load<kFirstA + row>(from + row * a.tile_stride, a.row_stride);
        });
      }
      if constexpr (kNow == 0 || kLast.b != kProduct.b) {
        const char* const from = b.data + step * b.k_stride + kPartB * b.part_stride;
        unroll<kColumns>([&](auto column) HEED_INLINE_LAMBDA {
          amx::load<kFirstB + column>(from + column * b.tile_stride, b.row_stride);
        });
      }
      for_each_c([&](auto row, auto column) HEED_INLINE_LAMBDA {
        Numbers::template dot<row * kTilesN + column, kFirstA + row, kFirstB + column>();
      });
      interleave();
    });
  }
  for_each_c([&](auto row, auto column) HEED_INLINE_LAMBDA {
    amx::store<row * kTilesN + column>(address(c, row, column), c.stride * kBytes);
  });
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
