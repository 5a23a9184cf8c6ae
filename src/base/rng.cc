#include "base/rng.h"

#include <cmath>
#include <numbers>

namespace heed {

std::array<uint32_t, 4> philox(RandomKey key, uint64_t counter) {
  std::array<uint32_t, 4> x{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
  uint32_t k0 = key.low, k1 = key.high;
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * x[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57} * x[2];
    x = {static_cast<uint32_t>(p1 >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return x;
}

RandomKey RandomKey::fold(uint64_t number) const {
  const auto x = philox(*this, number);
  return {x[0], x[1]};
}

RandomKey RandomKey::from_seed(uint64_t seed) {
  return RandomKey{0x48656564, 0x31}.fold(seed);
}

uint32_t Random::next() {
  const auto block = philox(key_, position_ / 4);
  return block[position_++ % 4];
}

double Random::uniform() {
  const uint64_t high = next(), low = next();
  return static_cast<double>(((high << 32) | low) >> 11) * 0x1p-53;
}

uint64_t Random::below(uint64_t bound) {
  const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  while (true) {
    const uint64_t high = next(), low = next();
    const uint64_t number = (high << 32) | low;
    if (number < limit) return number % bound;
  }
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace heed
