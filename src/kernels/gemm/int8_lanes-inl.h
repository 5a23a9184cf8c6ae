// What an instruction set is to products of 8-bit whole numbers: see panel_tile-inl.h.
//
// Activations stand in groups of four, of which each is multiplied with four weights of every column of the
// panel and added up. All sums are exact in 32 bits. (The instruction that multiplies bytes before VNNI,
// vpmaddubsw, is not: it adds two products in 16 bits and cuts off what does not fit. So numbers are widened
// to 16 bits first.) A Value is an activation plus kShift. Included once for each instruction set.

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
  using Value = int16_t;
  using Weight = int8_t;
  using Total = int32_t;
  static constexpr int32_t kShift = 0;
  static constexpr int kInputs = kGroupInputs, kRows = 1, kColumns = 1, kVectors = 1;
  using Sum = int32_t;
  using Weights = const int8_t*;
  using Group = const int16_t*;
  static HWY_INLINE Sum zero() { return 0; }
  static HWY_INLINE Weights weights(const int8_t* p) { return p; }
  static HWY_INLINE Group group(const int16_t* p) { return p; }
  static HWY_INLINE void add(Sum& sum, Group x, Weights w) {
    for (int i = 0; i < 4; ++i) sum += int32_t{x[i]} * int32_t{w[i]};
  }
  static HWY_INLINE Sum load(const int32_t* p) { return *p; }
  static HWY_INLINE void store(Sum sum, int32_t* p) { *p = sum; }
};

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR

/// 16-bit products, added in pairs: each column has two sums side by side until the end.
struct DefaultLanes {
  using Value = int16_t;
  using Weight = int8_t;
  using Total = int32_t;
  static constexpr int32_t kShift = 0;
  using Pairs = hn::ScalableTag<int32_t>;
  using Columns = hn::ScalableTag<uint64_t>;
  using Numbers = hn::Repartition<int16_t, Pairs>;
  static constexpr int kInputs = kGroupInputs, kRows = 6;
  static constexpr int kColumns = static_cast<int>(hn::MaxLanes(Columns()));
  static constexpr int kVectors = HWY_TARGET == HWY_AVX3 ? 4 : 2;
  using Sum = hn::Vec<Pairs>;
  using Weights = hn::Vec<Numbers>;
  using Group = hn::Vec<Numbers>;
  static HWY_INLINE Sum zero() { return hn::Zero(Pairs()); }
  static HWY_INLINE Weights weights(const int8_t* p) {
    return hn::PromoteTo(Numbers(), hn::LoadU(hn::Rebind<int8_t, Numbers>(), p));
  }
  static HWY_INLINE Group group(const int16_t* p) {
    uint64_t four;
    std::memcpy(&four, p, sizeof four);
    return hn::BitCast(Numbers(), hn::Set(Columns(), four));
  }
  static HWY_INLINE void add(Sum& sum, Group x, Weights w) {
#if HWY_TARGET == HWY_AVX3
    const Sum products{_mm512_madd_epi16(x.raw, w.raw)};
#elif HWY_TARGET == HWY_AVX2
    const Sum products{_mm256_madd_epi16(x.raw, w.raw)};
#else
    const Sum products{_mm_madd_epi16(x.raw, w.raw)};
#endif
    sum = hn::Add(sum, products);
  }
  static HWY_INLINE Sum load(const int32_t* p) {
    const auto sums = hn::LoadU(hn::Rebind<uint32_t, Columns>(), reinterpret_cast<const uint32_t*>(p));
    return hn::BitCast(Pairs(), hn::PromoteTo(Columns(), sums));
  }
  static HWY_INLINE void store(Sum sum, int32_t* p) {
    const hn::Rebind<uint32_t, Columns> sums;
    const auto pairs = hn::BitCast(Columns(), sum);
    const Sum together = hn::Add(sum, hn::BitCast(Pairs(), hn::ShiftRight<32>(pairs)));
    hn::StoreU(hn::TruncateTo(sums, hn::BitCast(Columns(), together)), sums, reinterpret_cast<uint32_t*>(p));
  }
};

#elif HWY_TARGET == HWY_NEON

/// Products of bytes in 16 bits, which hold one, are added to 32-bit sums in pairs: here, too, each column
/// has two sums side by side until the end.
struct DefaultLanes {
  using Value = int8_t;
  using Weight = int8_t;
  using Total = int32_t;
  static constexpr int32_t kShift = 0;
  static constexpr int kInputs = kGroupInputs, kRows = 6, kColumns = 4, kVectors = 2;
  struct Sum {
    int32x4_t low, high;  ///< of two columns each
  };
  using Weights = int8x16_t;
  using Group = int8x16_t;
  static HWY_INLINE Sum zero() { return {vdupq_n_s32(0), vdupq_n_s32(0)}; }
  static HWY_INLINE Weights weights(const int8_t* p) { return vld1q_s8(p); }
  static HWY_INLINE Group group(const int8_t* p) {
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

#if HEED_BYTE_PRODUCTS

struct VnniLanes {
  using Value = uint8_t;
  using Weight = int8_t;
  using Total = int32_t;
  static constexpr int32_t kShift = 128;  ///< see add_byte_products()
  static constexpr int kInputs = kGroupInputs, kRows = 6,
                       kColumns = static_cast<int>(hn::MaxLanes(ByteSums()));
  static constexpr int kVectors = HWY_TARGET == HWY_AVX3 ? 4 : 2;
  using Sum = hn::Vec<ByteSums>;
  using Weights = hn::Vec<Bytes>;
  using Group = hn::Vec<ByteSums>;
  static HWY_INLINE Sum zero() { return hn::Zero(ByteSums()); }
  static HWY_INLINE Weights weights(const int8_t* p) { return hn::LoadU(Bytes(), p); }
  static HWY_INLINE Group group(const uint8_t* p) {
    int32_t four;
    std::memcpy(&four, p, sizeof four);
    return hn::Set(ByteSums(), four);
  }
  static HWY_INLINE void add(Sum& sum, Group x, Weights w) { add_byte_products(sum, x, w); }
  static HWY_INLINE Sum load(const int32_t* p) { return hn::LoadU(ByteSums(), p); }
  static HWY_INLINE void store(Sum sum, int32_t* p) { hn::StoreU(sum, ByteSums(), p); }
};

#endif

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
