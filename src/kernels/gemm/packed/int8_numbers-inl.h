// int8 in vector registers: the dot product instructions of each target, and Numbers for
// vector_microkernel-inl.h.
//
// Activations are u7, unsigned bytes of at most 127 (quantize_row-inl.h). Weights are s8, -127 to 127. Four
// activations, a dword along K, are multiplied with four weights of each column. Accumulation is exact, so
// all instruction sets give the same sums. Included once for each instruction set.

#if defined(HEED_KERNELS_INT8_NUMBERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_INT8_NUMBERS_INL_H_
#undef HEED_KERNELS_INT8_NUMBERS_INL_H_
#else
#define HEED_KERNELS_INT8_NUMBERS_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/gemm/blocking.h"
#if HWY_ARCH_ARM_A64
#include <arm_neon.h>
#elif HWY_ARCH_WASM
#include <wasm_simd128.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// HEED_INT8_DOT: the target has u8 x s8 instructions. HEED_VNNI: some of its processors have VNNI.
#undef HEED_INT8_DOT
#undef HEED_VNNI
#define HEED_INT8_DOT (HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)
#define HEED_VNNI (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)

#if HEED_INT8_DOT

using Int32s = hn::ScalableTag<int32_t>;
using Int8s = hn::Repartition<int8_t, Int32s>;
using UInt8s = hn::Repartition<uint8_t, Int32s>;
using Int16s = hn::Repartition<int16_t, Int32s>;

/// x[2 i] w[2 i] + x[2 i + 1] w[2 i + 1] in 16 bits (vpmaddubsw). The instruction saturates, but with x at
/// most kMaxActivation and |w| at most 127 the result is at most 32,258: exact.
HWY_INLINE hn::Vec<Int16s> dot_pairs(hn::Vec<UInt8s> x, hn::Vec<Int8s> w) {
#if HWY_TARGET == HWY_AVX3
  return hn::Vec<Int16s>{_mm512_maddubs_epi16(x.raw, w.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec<Int16s>{_mm256_maddubs_epi16(x.raw, w.raw)};
#else
  return hn::Vec<Int16s>{_mm_maddubs_epi16(x.raw, w.raw)};
#endif
}

/// sums[i] += pairs[2 i] + pairs[2 i + 1] (vpmaddwd with ones).
HWY_INLINE void widen_add(hn::Vec<Int32s>& sums, hn::Vec<Int16s> pairs) {
  const auto ones = hn::Set(Int16s(), int16_t{1});
#if HWY_TARGET == HWY_AVX3
  sums = hn::Add(sums, hn::Vec<Int32s>{_mm512_madd_epi16(pairs.raw, ones.raw)});
#elif HWY_TARGET == HWY_AVX2
  sums = hn::Add(sums, hn::Vec<Int32s>{_mm256_madd_epi16(pairs.raw, ones.raw)});
#else
  sums = hn::Add(sums, hn::Vec<Int32s>{_mm_madd_epi16(pairs.raw, ones.raw)});
#endif
}

#endif

#if HEED_VNNI

/// sums[i] += sum of x[4 i + j] w[4 i + j] over j = 0, ..., 3 (vpdpbusd). Highway has no name for it, and its
/// targets do not let the compiler use it.
HWY_INLINE void dot_fours(hn::Vec<Int32s>& sums, hn::Vec<UInt8s> x, hn::Vec<Int8s> w) {
#if HWY_TARGET == HWY_AVX3
  asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(x.raw), "v"(w.raw));
#else
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums.raw) : "x"(x.raw), "x"(w.raw));
#endif
}

#endif

// ---- Numbers for VectorKernel -----------------------------------------------------------------------------
// From scalar code to the vectors of each target.

/// Scalar code, the reference of the others.
struct PlainInt8 {
  using A = uint8_t;
  using B = int8_t;
  using Accumulator = int32_t;
  static constexpr int kDepth = kPanelDepth, kAdjacent = kPanelDepth, kMr = 1, kLanes = 1, kNrVectors = 1;
  using C = int32_t;
  using VectorB = const int8_t*;
  using BroadcastA = const uint8_t*;
  static HWY_INLINE C zero() { return 0; }
  static HWY_INLINE VectorB load_b(const int8_t* p) { return p; }
  static HWY_INLINE BroadcastA broadcast_a(const uint8_t* p) { return p; }
  static HWY_INLINE void multiply_add(C& sum, BroadcastA x, VectorB w) {
    for (int i = 0; i < 4; ++i) sum += int32_t{x[i]} * int32_t{w[i]};
  }
  static HWY_INLINE C load_c(const int32_t* p) { return *p; }
  static HWY_INLINE void store_c(C sum, int32_t* p) { *p = sum; }
};

#if HEED_INT8_DOT

/// Four activations in each 32-bit lane.
HWY_INLINE hn::Vec<UInt8s> broadcast_dword(const uint8_t* p) {
  int32_t four;
  std::memcpy(&four, p, sizeof four);
  return hn::BitCast(UInt8s(), hn::Set(Int32s(), four));
}

/// Common to the vector versions on x86: each lane accumulates one column.
struct VectorInt8 {
  using A = uint8_t;
  using B = int8_t;
  using Accumulator = int32_t;
  static constexpr int kAdjacent = kPanelDepth, kMr = 6;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(Int32s()));
  static constexpr int kNrVectors = HWY_TARGET == HWY_AVX3 ? 4 : 2;
  using C = hn::Vec<Int32s>;
  static HWY_INLINE C zero() { return hn::Zero(Int32s()); }
  static HWY_INLINE C load_c(const int32_t* p) { return hn::LoadU(Int32s(), p); }
  static HWY_INLINE void store_c(C sum, int32_t* p) { hn::StoreU(sum, Int32s(), p); }
};

/// Without VNNI: vpmaddubsw. A step is two dwords along K, whose products are added in 16 bits before they
/// are widened: five instructions for two vectors of B instead of six. Where that could overflow, which
/// pack_b_int8() finds out from the weights, the products of each dword are widened separately.
struct DefaultInt8 : VectorInt8 {
  static constexpr int kDepth = 2 * kPanelDepth;
  // Of 16 registers, 8 are accumulators, 4 hold B, 2 A, 1 ones and 1 products.
  static constexpr int kMr = HWY_TARGET == HWY_AVX3 ? 6 : 4;
  using VectorB = const int8_t*;
  struct BroadcastA {
    hn::Vec<UInt8s> first, second;
  };
  static HWY_INLINE VectorB load_b(const int8_t* p) { return p; }
  static HWY_INLINE BroadcastA broadcast_a(const uint8_t* p) {
    return {broadcast_dword(p), broadcast_dword(p + kPanelDepth)};
  }
  static HWY_INLINE void multiply_add(C& sum, const BroadcastA& x, VectorB w) {
    widen_add(sum, hn::Add(first_pairs(x, w), second_pairs(x, w)));
  }
  static HWY_INLINE void multiply_add_wide(C& sum, const BroadcastA& x, VectorB w) {
    widen_add(sum, first_pairs(x, w));
    widen_add(sum, second_pairs(x, w));
  }
  /// The bits of a step's byte for `count` columns from `first` on: bit n stands for columns 8 n to 8 n + 7.
  static HWY_INLINE int wide_bits(int64_t first, int64_t count) {
    return ((1 << ((count + 7) / 8)) - 1) << (first / 8);
  }

 private:
  static HWY_INLINE hn::Vec<Int16s> first_pairs(const BroadcastA& x, VectorB w) {
    return dot_pairs(x.first, hn::LoadU(Int8s(), w));
  }
  static HWY_INLINE hn::Vec<Int16s> second_pairs(const BroadcastA& x, VectorB w) {
    return dot_pairs(x.second, hn::LoadU(Int8s(), w + kPanelWidth * kPanelDepth));
  }
};

#elif HWY_TARGET == HWY_NEON

/// Products in 16 bits are accumulated pairwise in 32 bits: each column has two adjacent accumulators until
/// the end. Activations are at most 127, so they are valid signed bytes.
struct DefaultInt8 {
  using A = uint8_t;
  using B = int8_t;
  using Accumulator = int32_t;
  static constexpr int kDepth = kPanelDepth, kAdjacent = kPanelDepth, kMr = 6, kLanes = 4, kNrVectors = 2;
  struct C {
    int32x4_t low, high;  ///< of two columns each
  };
  using VectorB = int8x16_t;
  using BroadcastA = int8x16_t;
  static HWY_INLINE C zero() { return {vdupq_n_s32(0), vdupq_n_s32(0)}; }
  static HWY_INLINE VectorB load_b(const int8_t* p) { return vld1q_s8(p); }
  static HWY_INLINE BroadcastA broadcast_a(const uint8_t* p) {
    int32_t four;
    std::memcpy(&four, p, sizeof four);
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
  }
  static HWY_INLINE void multiply_add(C& sum, BroadcastA x, VectorB w) {
    sum.low = vpadalq_s16(sum.low, vmull_s8(vget_low_s8(x), vget_low_s8(w)));
    sum.high = vpadalq_s16(sum.high, vmull_high_s8(x, w));
  }
  static HWY_INLINE C load_c(const int32_t* p) {
    const int32x4_t columns = vld1q_s32(p), zeros = vdupq_n_s32(0);
    return {vzip1q_s32(columns, zeros), vzip2q_s32(columns, zeros)};
  }
  static HWY_INLINE void store_c(const C& sum, int32_t* p) { vst1q_s32(p, vpaddq_s32(sum.low, sum.high)); }
};

#elif HWY_TARGET == HWY_WASM

/// SIMD128 has no product of bytes with a sum (its relaxed version is not everywhere): both are widened to 16
/// bits, which a vector of B is once for all rows, and pairs of products are added in 32 bits
/// (i32x4.dot_i16x8). Each column has two adjacent accumulators until the end.
struct DefaultInt8 {
  using A = uint8_t;
  using B = int8_t;
  using Accumulator = int32_t;
  // Of 16 registers of the processor, 8 are accumulators, 4 hold B and 1 A.
  static constexpr int kDepth = kPanelDepth, kAdjacent = kPanelDepth, kMr = 2, kLanes = 4, kNrVectors = 2;
  struct C {
    v128_t low, high;  ///< of two columns each
  };
  struct VectorB {
    v128_t low, high;
  };
  using BroadcastA = v128_t;
  static HWY_INLINE C zero() { return {wasm_i32x4_const_splat(0), wasm_i32x4_const_splat(0)}; }
  static HWY_INLINE VectorB load_b(const int8_t* p) {
    return {wasm_i16x8_load8x8(p), wasm_i16x8_load8x8(p + 8)};
  }
  static HWY_INLINE BroadcastA broadcast_a(const uint8_t* p) {
    return wasm_u16x8_extend_low_u8x16(wasm_v128_load32_splat(p));
  }
  static HWY_INLINE void multiply_add(C& sum, BroadcastA x, const VectorB& w) {
    sum.low = wasm_i32x4_add(sum.low, wasm_i32x4_dot_i16x8(x, w.low));
    sum.high = wasm_i32x4_add(sum.high, wasm_i32x4_dot_i16x8(x, w.high));
  }
  static HWY_INLINE C load_c(const int32_t* p) {
    const v128_t columns = wasm_v128_load(p), zeros = wasm_i32x4_const_splat(0);
    return {wasm_i32x4_shuffle(columns, zeros, 0, 4, 1, 5), wasm_i32x4_shuffle(columns, zeros, 2, 6, 3, 7)};
  }
  static HWY_INLINE void store_c(const C& sum, int32_t* p) {
    wasm_v128_store(p, wasm_i32x4_add(wasm_i32x4_shuffle(sum.low, sum.high, 0, 2, 4, 6),
                                      wasm_i32x4_shuffle(sum.low, sum.high, 1, 3, 5, 7)));
  }
};

#else

using DefaultInt8 = PlainInt8;

#endif

#if HEED_VNNI

struct VnniInt8 : VectorInt8 {
  static constexpr int kDepth = kPanelDepth;
  using VectorB = hn::Vec<Int8s>;
  using BroadcastA = hn::Vec<UInt8s>;
  static HWY_INLINE VectorB load_b(const int8_t* p) { return hn::LoadU(Int8s(), p); }
  static HWY_INLINE BroadcastA broadcast_a(const uint8_t* p) { return broadcast_dword(p); }
  static HWY_INLINE void multiply_add(C& sum, BroadcastA x, VectorB w) { dot_fours(sum, x, w); }
};

#endif

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
