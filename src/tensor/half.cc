#include "tensor/half.h"

#include <bit>

namespace heed {

float half_to_float(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7FFFu;
  if (magnitude >= 0x7C00u) return std::bit_cast<float>(sign | 0x7F800000u | ((magnitude & 0x3FFu) << 13));
  // Shifted into place the exponent is too small by 112; a product sets that right, subnormals included.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(scaled));
}

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return sign | 0x7E00u;   // not a number
  if (magnitude >= 0x477FF000u) return sign | 0x7C00u;  // rounds to infinity: 65520 and above
  if (magnitude < 0x38800000u) {                        // below 2^-14: a multiple of 2^-24
    const float scaled = std::bit_cast<float>(magnitude) + 0.5f;  // the sum's last bit is worth 2^-24
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(scaled) - 0x3F000000u);
  }
  const uint32_t rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
  return sign | static_cast<uint16_t>((rounded >> 13) - (112u << 10));
}

float bfloat_to_float(uint16_t bfloat) { return std::bit_cast<float>(uint32_t{bfloat} << 16); }

uint16_t float_to_bfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace heed
