// Vectors of floats from and to float16 (IEEE 754 binary16), as tensor/half.h does for one number. Included
// once for each instruction set.

#if defined(HEED_KERNELS_FLOAT16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_FLOAT16_INL_H_
#undef HEED_KERNELS_FLOAT16_INL_H_
#else
#define HEED_KERNELS_FLOAT16_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Without instructions for it, Highway truncates instead of rounding and loses NaN.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_WASM

/// With exponent and mantissa read as those of a float, a number is 2^112 times too small, subnormal ones
/// too.
template <class D>
HWY_INLINE hn::Vec<D> load_float16(D d, const uint16_t* p) {
  constexpr int kMoreMantissa = 23 - 10;
  const hn::RebindToSigned<D> bits;
  const auto half = hn::PromoteTo(bits, hn::LoadU(hn::Rebind<uint16_t, D>(), p));
  const auto magnitude = hn::And(half, hn::Set(bits, 0x7fff));
  const auto number = hn::BitCast(
      bits, hn::Mul(hn::BitCast(d, hn::ShiftLeft<kMoreMantissa>(magnitude)), hn::Set(d, 0x1p112F)));
  const auto special =
      hn::IfThenElseZero(hn::Gt(magnitude, hn::Set(bits, 0x7bff)), hn::Set(bits, 0x7f800000));
  const auto sign = hn::ShiftLeft<16>(hn::Xor(half, magnitude));
  return hn::BitCast(d, hn::Or(sign, hn::Or(number, special)));
}

template <class D>
HWY_INLINE void store_float16(D d, hn::Vec<D> v, uint16_t* p) {
  float lanes[hn::MaxLanes(D())];
  hn::StoreU(v, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) p[i] = float_to_half(lanes[i]);
}

#else

template <class D>
HWY_INLINE hn::Vec<D> load_float16(D d, const uint16_t* p) {
  const hn::Rebind<hwy::float16_t, D> half;
  return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(p)));
}

template <class D>
HWY_INLINE void store_float16(D /*d*/, hn::Vec<D> v, uint16_t* p) {
  const hn::Rebind<hwy::float16_t, D> half;
  hn::StoreU(hn::DemoteTo(half, v), half, reinterpret_cast<hwy::float16_t*>(p));
}

#endif

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
