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
#include "kernels/byte_products-inl.h"
#include "kernels/panel.h"
#if HWY_ARCH_X86
#include <smmintrin.h>  // Highway includes the rest, without the warnings that GCC 12 has for it
#elif HWY_ARCH_ARM_A64
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

#if HWY_ARCH_X86 && HWY_TARGET == HWY_SSE4

/// 16-bit products, added in pairs: each column has two sums side by side until the end.
struct DefaultLanes {
  using Value = int16_t;
  using Weight = int8_t;
  using Total = int32_t;
  static constexpr int32_t kShift = 0;
  static constexpr int kInputs = kGroupInputs, kRows = 6, kColumns = 2, kVectors = 2;
  using Sum = __m128i;
  using Weights = __m128i;
  using Group = __m128i;
  static HWY_INLINE Sum zero() { return _mm_setzero_si128(); }
  static HWY_INLINE Weights weights(const int8_t* p) {
    return _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }
  static HWY_INLINE Group group(const int16_t* p) {
    int64_t four;
    std::memcpy(&four, p, sizeof four);
    return _mm_set1_epi64x(four);
  }
  static HWY_INLINE void add(Sum& sum, Group x, Weights w) { sum = _mm_add_epi32(sum, _mm_madd_epi16(x, w)); }
  static HWY_INLINE Sum load(const int32_t* p) {
    return _mm_cvtepu32_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }
  static HWY_INLINE void store(Sum sum, int32_t* p) {
    const __m128i pairs = _mm_add_epi32(sum, _mm_srli_epi64(sum, 32));  // in the even places
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_shuffle_epi32(pairs, _MM_SHUFFLE(3, 1, 2, 0)));
  }
};

#elif HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2

/// The same with vectors twice as long.
struct DefaultLanes {
  using Value = int16_t;
  using Weight = int8_t;
  using Total = int32_t;
  static constexpr int32_t kShift = 0;
  static constexpr int kInputs = kGroupInputs, kRows = 6, kColumns = 4, kVectors = 2;
  using Sum = __m256i;
  using Weights = __m256i;
  using Group = __m256i;
  static HWY_INLINE Sum zero() { return _mm256_setzero_si256(); }
  static HWY_INLINE Weights weights(const int8_t* p) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static HWY_INLINE Group group(const int16_t* p) {
    int64_t four;
    std::memcpy(&four, p, sizeof four);
    return _mm256_set1_epi64x(four);
  }
  static HWY_INLINE void add(Sum& sum, Group x, Weights w) {
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x, w));
  }
  static HWY_INLINE Sum load(const int32_t* p) {
    return _mm256_cvtepu32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static HWY_INLINE void store(Sum sum, int32_t* p) {
    const __m256i pairs = _mm256_add_epi32(sum, _mm256_srli_epi64(sum, 32));  // in the even places
    const __m256i together = _mm256_permutevar8x32_epi32(pairs, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(together));
  }
};

#elif HWY_ARCH_X86 && HWY_TARGET == HWY_AVX3

/// The same with vectors twice as long.
struct DefaultLanes {
  using Value = int16_t;
  using Weight = int8_t;
  using Total = int32_t;
  static constexpr int32_t kShift = 0;
  static constexpr int kInputs = kGroupInputs, kRows = 6, kColumns = 8, kVectors = 4;
  using Sum = __m512i;
  using Weights = __m512i;
  using Group = __m512i;
  static HWY_INLINE Sum zero() { return _mm512_setzero_si512(); }
  static HWY_INLINE Weights weights(const int8_t* p) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static HWY_INLINE Group group(const int16_t* p) {
    int64_t four;
    std::memcpy(&four, p, sizeof four);
    return _mm512_set1_epi64(four);
  }
  static HWY_INLINE void add(Sum& sum, Group x, Weights w) {
    sum = _mm512_add_epi32(sum, _mm512_madd_epi16(x, w));
  }
  static HWY_INLINE Sum load(const int32_t* p) {
    return _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static HWY_INLINE void store(Sum sum, int32_t* p) {
    const __m512i pairs = _mm512_add_epi32(sum, _mm512_srli_epi64(sum, 32));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi64_epi32(pairs));
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
