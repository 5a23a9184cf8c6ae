// Counter-based random numbers: the n-th number of a stream is a function of (key, n) alone.
//
// Philox 4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
// Resuming needs no generator state, and a dropout mask can be recomputed instead of stored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heed {

/// Identifies a stream of random numbers.
struct RandomKey {
  uint32_t low = 0, high = 0;
  /// Derives the key of an independent stream from this key and `number`.
  RandomKey fold(uint64_t number) const;
  static RandomKey from_seed(uint64_t seed);
};

/// Four independent uniform 32-bit numbers.
std::array<uint32_t, 4> philox(RandomKey key, uint64_t counter);

/// Sequential numbers of a stream; the position is the whole state.
class Random {
 public:
  explicit Random(RandomKey key, uint64_t position = 0) : key_(key), position_(position) {}
  uint32_t next();
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Uniform integer in [0, bound), unbiased; bound > 0.
  uint64_t below(uint64_t bound);
  /// Standard normal (Box-Muller).
  double normal();

 private:
  RandomKey key_;
  uint64_t position_;
};

/// Fisher-Yates shuffle.
template <typename Value>
void shuffle(std::vector<Value>& values, Random& random) {
  for (size_t n = values.size(); n > 1; --n) std::swap(values[n - 1], values[random.below(n)]);
}

}  // namespace heed
