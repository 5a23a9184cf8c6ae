// A random order of 0 .. size-1 without an array of it: the number at a position is computed, in constant
// memory.
//
// A Feistel network is a bijection whatever its round function is (Luby and Rackoff, "How to construct
// pseudorandom permutations from pseudorandom functions", 1988). It permutes the numbers of `bits` bits, the
// smallest such range that holds `size`; a result outside is permuted again until it is inside ("cycle
// walking", Black and Rogaway, "Ciphers with arbitrary finite domains", 2002), which takes less than two
// tries on average.
#pragma once

#include <cstdint>

#include "base/rng.h"

namespace heed {

class Permutation {
 public:
  /// size > 0.
  Permutation(RandomKey key, uint64_t size);
  /// The number that stands at `position` < size.
  uint64_t operator()(uint64_t position) const;
  uint64_t size() const { return size_; }

 private:
  uint64_t once(uint64_t number) const;

  RandomKey key_;
  uint64_t size_;
  int low_bits_;  // of the right half
  uint64_t low_mask_, high_mask_;
};

}  // namespace heed
