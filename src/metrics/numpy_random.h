// The random numbers of NumPy's default_rng(seed): PCG64 (O'Neill, "PCG: a family of simple fast
// space-efficient statistically good algorithms for random number generation", 2014), seeded through NumPy's
// SeedSequence. sacreBLEU uses them for resampling, so equal p-values require equal random numbers.
#pragma once

#include <cstdint>

namespace heed {

class NumpyRandom {
 public:
  /// default_rng(seed).
  explicit NumpyRandom(uint32_t seed);

  /// One element of integers(0, limit): 0 to limit - 1. `limit` is at least 1.
  uint32_t below(uint32_t limit);
  /// integers(2, size=count, dtype=bool) takes its elements from count / 32 such numbers, lowest bit first.
  uint32_t next_32();

 private:
  __extension__ using Uint128 = unsigned __int128;
  uint64_t next_64();
  void step();

  Uint128 state_ = 0, increment_ = 0;
  uint32_t kept_ = 0;  // the upper half of the last 64-bit number
  bool has_kept_ = false;
};

}  // namespace heed
