#include "tensor/finite.h"

#include <algorithm>
#include <bit>

namespace heed {
namespace {

/// Infinity and NaN are the values whose exponent has all bits set. The counter is as wide as the values, so
/// that the loop is vectorized.
template <typename Bits, typename T>
Bits count_not_finite(const T* values, size_t count, Bits exponent) {
  Bits found = 0;
  for (size_t i = 0; i < count; ++i) found += (std::bit_cast<Bits>(values[i]) & exponent) == exponent;
  return found;
}

template <typename Bits, typename T>
size_t first(const T* values, size_t count, Bits exponent) {
  constexpr size_t kTogether = 4096;  // fewer than a 16-bit counter can hold
  for (size_t begin = 0; begin < count; begin += kTogether) {
    const size_t size = std::min(kTogether, count - begin);
    if (count_not_finite(values + begin, size, exponent) == 0) continue;
    while (count_not_finite(values + begin, 1, exponent) == 0) ++begin;
    return begin;
  }
  return count;
}

}  // namespace

size_t first_not_finite(const float* values, size_t count) {
  return first<uint32_t>(values, count, 0x7F800000);
}
size_t first_not_finite_half(const uint16_t* halves, size_t count) {
  return first<uint16_t>(halves, count, 0x7C00);
}
size_t first_not_finite_bfloat(const uint16_t* bfloats, size_t count) {
  return first<uint16_t>(bfloats, count, 0x7F80);
}

}  // namespace heed
