// Random numbers by counting: the n-th number of a stream is a function of (key, n) alone.
//
// Philox 4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
// Nothing has to be replayed on resume, and a dropout mask can be drawn again instead of stored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heed {

/// Names a stream of random numbers.
struct RandomKey {
  uint32_t low = 0, high = 0;
  /// A key for a stream of its own, a function of this key and `number`.
  RandomKey fold(uint64_t number) const;
  static RandomKey from_seed(uint64_t seed);
};

/// Four independent uniform 32-bit numbers.
std::array<uint32_t, 4> philox(RandomKey key, uint64_t counter);

/// Numbers in order from a stream; a position is all of its state.
class Random {
 public:
  explicit Random(RandomKey key, uint64_t position = 0) : key_(key), position_(position) {}
  uint32_t next();
  /// In [0, 1), 53 bits.
  double uniform();
  /// In [0, bound), without bias; bound > 0.
  uint64_t below(uint64_t bound);
  /// Standard normal (Box and Muller).
  double normal();

 private:
  RandomKey key_;
  uint64_t position_;
};

/// Fisher and Yates.
template <typename Value>
void shuffle(std::vector<Value>& values, Random& random) {
  for (size_t n = values.size(); n > 1; --n) std::swap(values[n - 1], values[random.below(n)]);
}

}  // namespace heed
