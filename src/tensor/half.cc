#include "tensor/half.h"

#include <bit>
#include <cmath>

#include "base/cpu_features.h"

namespace heed {
namespace {

/// To float32, rounded to odd: where the value lies between two floats, the one whose last bit is 1. It has
/// 13 bits more than a half and 16 more than a bfloat, so that rounding it again gives what rounding once
/// would have given (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms
/// using rounding to odd", 2008).
float round_to_odd(double value) {
  if (std::abs(value) >= 0x1p128) return static_cast<float>(std::copysign(INFINITY, value));
  const auto nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) return nearest;
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if ((bits & 1u) != 0) return nearest;
  // Of two neighbours one is odd: the other one, on the far side of the value. Bits count away from zero.
  const bool nearest_is_beyond = std::abs(static_cast<double>(nearest)) > std::abs(value);
  return std::bit_cast<float>(nearest_is_beyond ? bits - 1 : bits + 1);
}

// Without a name outside, so that the compiler may put them into loops, and the loops into vectors.

float from_half(uint16_t half) {
  const int32_t sign = (half & 0x8000) << 16;
  const int32_t magnitude = half & 0x7FFF;
  // Shifted into place the exponent is too small by 112; a product sets that right, subnormals included.
  const auto scaled = std::bit_cast<int32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112f);
  const int32_t special = 0x7F800000 | (magnitude << 13);  // infinity and NaN
  const int32_t is_special =
      -static_cast<int32_t>(magnitude >= 0x7C00);  // a mask: a branch is not vectorized
  return std::bit_cast<float>(sign | (special & is_special) | (scaled & ~is_special));
}

float from_bfloat(uint16_t bfloat) {
  return std::bit_cast<float>(uint32_t{bfloat} << 16);
}

}  // namespace

float half_to_float(uint16_t half) {
  return from_half(half);
}

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return sign | 0x7E00u;             // not a number
  if (magnitude >= 0x477FF000u) return sign | 0x7C00u;            // rounds to infinity: 65520 and above
  if (magnitude < 0x38800000u) {                                  // below 2^-14: a multiple of 2^-24
    const float scaled = std::bit_cast<float>(magnitude) + 0.5f;  // the sum's last bit is worth 2^-24
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(scaled) - 0x3F000000u);
  }
  const uint32_t rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
  return sign | static_cast<uint16_t>((rounded >> 13) - (112u << 10));
}

float bfloat_to_float(uint16_t bfloat) {
  return from_bfloat(bfloat);
}

uint16_t float_to_bfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

uint16_t double_to_half(double value) {
  return float_to_half(round_to_odd(value));
}
uint16_t double_to_bfloat(double value) {
  return float_to_bfloat(round_to_odd(value));
}

namespace {

[[gnu::always_inline]] inline void widen_halves(const uint16_t* halves, float* floats, size_t count) {
  for (size_t n = 0; n < count; ++n) floats[n] = from_half(halves[n]);
}

#if defined(__x86_64__)
/// The same operations for twice as many numbers at a time: reading a model widens all of its weights.
[[gnu::target("avx2")]] void widen_halves_avx2(const uint16_t* halves, float* floats, size_t count) {
  widen_halves(halves, floats, count);
}
#endif

}  // namespace

void halves_to_floats(const uint16_t* halves, float* floats, size_t count) {
#if defined(__x86_64__)
  if (cpu_features().avx2) return widen_halves_avx2(halves, floats, count);
#endif
  widen_halves(halves, floats, count);
}

void bfloats_to_floats(const uint16_t* bfloats, float* floats, size_t count) {
  for (size_t n = 0; n < count; ++n) floats[n] = from_bfloat(bfloats[n]);
}

}  // namespace heed
