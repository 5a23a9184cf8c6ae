// The int8 micro-kernels of each instruction set: see panel_tile-inl.h for the loops around them.
//
// Activations are u7: unsigned bytes of at most 127 (see quantize_row-inl.h). Weights are s8: -127 to 127. A
// group of four activations is multiplied with four weights of each column of the panel. All sums are exact,
// so they are the same on every instruction set. Included once for each instruction set.

#if defined(HEED_KERNELS_INT8_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_INT8_LANES_INL_H_
#undef HEED_KERNELS_INT8_LANES_INL_H_
#else
#define HEED_KERNELS_INT8_LANES_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/gemm/byte_products-inl.h"
#include "kernels/gemm/panel.h"
#if HWY_ARCH_ARM_A64
#include <arm_neon.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// The plain version, which the others are compared with.
struct PlainLanes {
  using Value = uint8_t;
  using Weight = int8_t;
  using Total = int32_t;
  static constexpr int kInputs = kGroupInputs, kGroup = kGroupInputs, kRows = 1, kColumns = 1, kVectors = 1;
  using Sum = int32_t;
  using Weights = const int8_t*;
  using Group = const uint8_t*;
  static HWY_INLINE Sum zero() { return 0; }
  static HWY_INLINE Weights weights(const int8_t* p) { return p; }
  static HWY_INLINE Group group(const uint8_t* p) { return p; }
  static HWY_INLINE void add(Sum& sum, Group x, Weights w) {
    for (int i = 0; i < 4; ++i) sum += int32_t{x[i]} * int32_t{w[i]};
  }
  static HWY_INLINE Sum load(const int32_t* p) { return *p; }
  static HWY_INLINE void store(Sum sum, int32_t* p) { *p = sum; }
};

#if HEED_BYTE_PRODUCTS

/// Four activations in every lane of 32 bits.
HWY_INLINE hn::Vec<UnsignedBytes> broadcast_group(const uint8_t* p) {
  int32_t four;
  std::memcpy(&four, p, sizeof four);
  return hn::BitCast(UnsignedBytes(), hn::Set(ByteSums(), four));
}

/// What the vector versions have in common: a vector of sums has a column in each lane.
struct VectorLanes {
  using Value = uint8_t;
  using Weight = int8_t;
  using Total = int32_t;
  static constexpr int kGroup = kGroupInputs, kRows = 6;
  static constexpr int kColumns = static_cast<int>(hn::MaxLanes(ByteSums()));
  static constexpr int kVectors = HWY_TARGET == HWY_AVX3 ? 4 : 2;
  using Sum = hn::Vec<ByteSums>;
  static HWY_INLINE Sum zero() { return hn::Zero(ByteSums()); }
  static HWY_INLINE Sum load(const int32_t* p) { return hn::LoadU(ByteSums(), p); }
  static HWY_INLINE void store(Sum sum, int32_t* p) { hn::StoreU(sum, ByteSums(), p); }
};

/// Without VNNI: vpmaddubsw. A step is two groups, whose products are added in 16 bits before they are
/// widened: five instructions for two vectors of weights instead of six. Where that could overflow, which
/// pack_panels() knows from the weights, each group is widened by itself.
struct DefaultLanes : VectorLanes {
  static constexpr int kInputs = 2 * kGroupInputs;
  // Of 16 registers, 8 are accumulators, 4 weights, 2 activations, 1 ones and 1 products.
  static constexpr int kRows = HWY_TARGET == HWY_AVX3 ? 6 : 4;
  using Weights = const int8_t*;
  struct Group {
    hn::Vec<UnsignedBytes> first, second;
  };
  static HWY_INLINE Weights weights(const int8_t* p) { return p; }
  static HWY_INLINE Group group(const uint8_t* p) {
    return {broadcast_group(p), broadcast_group(p + kGroupInputs)};
  }
  static HWY_INLINE void add(Sum& sum, const Group& x, Weights w) {
    add_pairs(sum, hn::Add(first_pairs(x, w), second_pairs(x, w)));
  }
  static HWY_INLINE void add_wide(Sum& sum, const Group& x, Weights w) {
    add_pairs(sum, first_pairs(x, w));
    add_pairs(sum, second_pairs(x, w));
  }
  /// The bits of a step's byte for `count` columns from `first` on: bit n stands for columns 8 n to 8 n + 7.
  static HWY_INLINE int wide_bits(int64_t first, int64_t count) {
    return ((1 << ((count + 7) / 8)) - 1) << (first / 8);
  }

 private:
  static HWY_INLINE hn::Vec<PairSums> first_pairs(const Group& x, Weights w) {
    return multiply_byte_pairs(x.first, hn::LoadU(Bytes(), w));
  }
  static HWY_INLINE hn::Vec<PairSums> second_pairs(const Group& x, Weights w) {
    return multiply_byte_pairs(x.second, hn::LoadU(Bytes(), w + kPanelColumns * kGroupInputs));
  }
};

#elif HWY_TARGET == HWY_NEON

/// Products of bytes in 16 bits, which hold one, are added to 32-bit sums in pairs: each column has two sums
/// side by side until the end. Activations are at most 127, so they are signed bytes as well.
struct DefaultLanes {
  using Value = uint8_t;
  using Weight = int8_t;
  using Total = int32_t;
  static constexpr int kInputs = kGroupInputs, kGroup = kGroupInputs, kRows = 6, kColumns = 4, kVectors = 2;
  struct Sum {
    int32x4_t low, high;  ///< of two columns each
  };
  using Weights = int8x16_t;
  using Group = int8x16_t;
  static HWY_INLINE Sum zero() { return {vdupq_n_s32(0), vdupq_n_s32(0)}; }
  static HWY_INLINE Weights weights(const int8_t* p) { return vld1q_s8(p); }
  static HWY_INLINE Group group(const uint8_t* p) {
    int32_t four;
    std::memcpy(&four, p, sizeof four);
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
  }
  static HWY_INLINE void add(Sum& sum, Group x, Weights w) {
    sum.low = vpadalq_s16(sum.low, vmull_s8(vget_low_s8(x), vget_low_s8(w)));
    sum.high = vpadalq_s16(sum.high, vmull_high_s8(x, w));
  }
  static HWY_INLINE Sum load(const int32_t* p) {
    const int32x4_t columns = vld1q_s32(p), zeros = vdupq_n_s32(0);
    return {vzip1q_s32(columns, zeros), vzip2q_s32(columns, zeros)};
  }
  static HWY_INLINE void store(const Sum& sum, int32_t* p) { vst1q_s32(p, vpaddq_s32(sum.low, sum.high)); }
};

#else

using DefaultLanes = PlainLanes;

#endif

#if HEED_VNNI

struct VnniLanes : VectorLanes {
  static constexpr int kInputs = kGroupInputs;
  using Weights = hn::Vec<Bytes>;
  using Group = hn::Vec<UnsignedBytes>;
  static HWY_INLINE Weights weights(const int8_t* p) { return hn::LoadU(Bytes(), p); }
  static HWY_INLINE Group group(const uint8_t* p) { return broadcast_group(p); }
  static HWY_INLINE void add(Sum& sum, Group x, Weights w) { add_byte_products(sum, x, w); }
};

#endif

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
