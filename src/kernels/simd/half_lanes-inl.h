// Vectors of floats from and to 16-bit floating point numbers (IEEE 754 binary16), as tensor/half.h
// does for one. Included once for each instruction set.

#if defined(HEED_KERNELS_HALF_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_HALF_LANES_INL_H_
#undef HEED_KERNELS_HALF_LANES_INL_H_
#else
#define HEED_KERNELS_HALF_LANES_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Without instructions for it, Highway cuts digits off instead of rounding, and makes numbers of what is
// none.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_SSE4

/// Read as those of a float, the digits of a half are 2^112 times smaller, also where they are too small for
/// the leading one.
template <class D>
HWY_INLINE hn::Vec<D> load_halves(D d, const uint16_t* p) {
  constexpr int kMoreDigits = 23 - 10;
  const hn::RebindToSigned<D> bits;
  const auto half = hn::PromoteTo(bits, hn::LoadU(hn::Rebind<uint16_t, D>(), p));
  const auto magnitude = hn::And(half, hn::Set(bits, 0x7fff));
  const auto number =
      hn::BitCast(bits, hn::Mul(hn::BitCast(d, hn::ShiftLeft<kMoreDigits>(magnitude)), hn::Set(d, 0x1p112F)));
  const auto none = hn::IfThenElseZero(hn::Gt(magnitude, hn::Set(bits, 0x7bff)), hn::Set(bits, 0x7f800000));
  const auto sign = hn::ShiftLeft<16>(hn::Xor(half, magnitude));
  return hn::BitCast(d, hn::Or(sign, hn::Or(number, none)));
}

template <class D>
HWY_INLINE void store_halves(D d, hn::Vec<D> v, uint16_t* p) {
  float lanes[hn::MaxLanes(D())];
  hn::StoreU(v, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) p[i] = float_to_half(lanes[i]);
}

#else

template <class D>
HWY_INLINE hn::Vec<D> load_halves(D d, const uint16_t* p) {
  const hn::Rebind<hwy::float16_t, D> half;
  return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(p)));
}

template <class D>
HWY_INLINE void store_halves(D /*d*/, hn::Vec<D> v, uint16_t* p) {
  const hn::Rebind<hwy::float16_t, D> half;
  hn::StoreU(hn::DemoteTo(half, v), half, reinterpret_cast<hwy::float16_t*>(p));
}

#endif

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
