// For tests: numbers to compute with.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"

namespace heed {

/// Normally distributed, a function of the seed.
template <typename T>
std::vector<T> normal(int64_t size, uint64_t seed) {
  Random random(RandomKey::from_seed(seed));
  std::vector<T> values(static_cast<size_t>(size));
  for (T& value : values) value = static_cast<T>(random.normal());
  return values;
}

}  // namespace heed
