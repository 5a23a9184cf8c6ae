// Operands of attention's products as bf16x3, packed in AMX tiles, and the product of two blocks. Included
// once for each instruction set.

#if defined(HEED_KERNELS_SPLIT_OPERAND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SPLIT_OPERAND_INL_H_
#undef HEED_KERNELS_SPLIT_OPERAND_INL_H_
#else
#define HEED_KERNELS_SPLIT_OPERAND_INL_H_
#endif

#include <algorithm>

#include "kernels/gemm/amx/bf16_split-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// MR and NR of a product, and K of a step.
constexpr int64_t kBlock = 32;
static_assert(kBlock == kBf16Step && kBlock == kAmxMr && kBlock == kAmxNr);

/// Always bf16x3, whatever precision is allowed for other products.
constexpr int kParts = 3;
using Bf16x3 = Bf16Numbers<kParts>;

/// A tile for each part.
constexpr int64_t kSplitTileDwords = kParts * kTileDwords;

/// A split operand: tiles of 16 rows of A or columns of B and 32 of K, for each part. Strides count dwords.
struct SplitOperand {
  uint32_t* dwords;
  int64_t tile_stride, k_stride;

  /// Panel by panel: all of K of 16 rows or columns is contiguous; or step by step along K.
  static SplitOperand panel_major(uint32_t* dwords, int64_t k_size) {
    return {dwords, k_size / kBf16Step * kSplitTileDwords, kSplitTileDwords};
  }
  static SplitOperand k_major(uint32_t* dwords, int64_t size) {
    return {dwords, kSplitTileDwords, size / amx::kTileRows * kSplitTileDwords};
  }
  uint32_t* at(int64_t i, int64_t k) const {
    return dwords + i / amx::kTileRows * tile_stride + k / kBf16Step * k_stride;
  }
  PackedTiles from(int64_t i, int64_t k) const {
    constexpr int64_t kBytes = amx::kDwordBytes;
    return {reinterpret_cast<const char*>(at(i, k)), amx::kTileRowBytes, tile_stride * kBytes,
            kTileDwords * kBytes, k_stride * kBytes};
  }
};
/// Dwords of a split operand, whole blocks.
constexpr int64_t split_dwords(int64_t size, int64_t k_size) {
  return round_up(size, kBlock) * (round_up(k_size, kBlock) / kBlock) * kParts * kRowDwords;
}

/// Packs whole blocks, padded with zeros.
HWY_INLINE void pack_split(const Operand& from, const SplitOperand& to) {
  for (int64_t i = 0; i < round_up(from.size, kBlock); i += amx::kTileRows) {
    for (int64_t k = 0; k < from.k_size; k += kBf16Step) pack_bf16_tile<kParts>(from, i, k, to.at(i, k));
  }
}

/// The first `count` lanes of a vector; `count` may be negative or too large.
HWY_INLINE hn::Mask<Floats> first_lanes(int64_t count) {
  return hn::FirstN(Floats(), static_cast<size_t>(std::clamp<int64_t>(count, 0, kRowDwords)));
}

/// C (rows x kBlock) = A B, or C += A B, for whole tiles of at most kBlock rows.
template <class Interleave>
HWY_INLINE void multiply_block(int64_t rows, const PackedTiles& a, const PackedTiles& b, int64_t k_size,
                               bool accumulate, const MatrixBlock<float>& c, Interleave& interleave) {
  const int64_t k_steps = (k_size + kBf16Step - 1) / kBf16Step;
  const MatrixBlock<const float> c0{accumulate ? c.data : nullptr, c.stride};
  const auto call = [&]() HEED_INLINE_LAMBDA { interleave(); };
  if (rows > amx::kTileRows) {
    multiply_tiles<Bf16x3, 2, 2>(a, b, k_steps, c0, c, call);
  } else {
    multiply_tiles<Bf16x3, 1, 2>(a, b, k_steps, c0, c, call);
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
