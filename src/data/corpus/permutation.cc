#include "data/corpus/permutation.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace heed {
namespace {

// Three rounds for each half. Four in all are pseudorandom for large ranges; small ones need more.
constexpr uint64_t kRounds = 6;

/// The lowest `bits` bits, for bits <= 32.
uint64_t mask(int bits) {
  return (uint64_t{1} << bits) - 1;
}

}  // namespace

Permutation::Permutation(RandomKey key, uint64_t size) : key_(key), size_(size) {
  HEED_CHECK(size > 0);
  const int bits = std::max(2, static_cast<int>(std::bit_width(size - 1)));  // a half needs at least one bit
  low_bits_ = (bits + 1) / 2;
  low_mask_ = mask(low_bits_);
  high_mask_ = mask(bits - low_bits_);
}

uint64_t Permutation::once(uint64_t number) const {
  uint64_t low = number & low_mask_, high = number >> low_bits_;
  for (uint64_t round = 0; round < kRounds; round += 2) {
    high ^= philox(key_, round << 32 | low)[0] & high_mask_;
    low ^= philox(key_, (round + 1) << 32 | high)[0] & low_mask_;
  }
  return high << low_bits_ | low;
}

uint64_t Permutation::operator()(uint64_t position) const {
  HEED_CHECK(position < size_);
  uint64_t number = once(position);
  while (number >= size_) number = once(number);
  return number;
}

}  // namespace heed
