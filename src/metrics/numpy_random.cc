#include "metrics/numpy_random.h"

#include <array>
#include <cstddef>

namespace heed {
namespace {

/// SeedSequence(seed).generate_state(8): hashes of a pool of four words (O'Neill's seed_seq_fe128).
class SeedSequence {
 public:
  explicit SeedSequence(uint32_t seed) {
    for (std::size_t n = 0; n < pool_.size(); ++n) pool_[n] = hash(n == 0 ? seed : 0);
    for (std::size_t from = 0; from < pool_.size(); ++from) {
      for (std::size_t to = 0; to < pool_.size(); ++to) {
        if (from != to) pool_[to] = mix(pool_[to], hash(pool_[from]));
      }
    }
  }

  std::array<uint32_t, 8> state() const {
    std::array<uint32_t, 8> words{};
    uint32_t constant = 0x8b51f9dd;
    for (std::size_t n = 0; n < words.size(); ++n) {
      uint32_t word = pool_[n % pool_.size()] ^ constant;
      constant *= 0x58f38ded;
      word *= constant;
      words[n] = word ^ (word >> 16);
    }
    return words;
  }

 private:
  uint32_t hash(uint32_t word) {
    word ^= constant_;
    constant_ *= 0x931e8875;
    word *= constant_;
    return word ^ (word >> 16);
  }
  static uint32_t mix(uint32_t x, uint32_t y) {
    const uint32_t word = 0xca01f9dd * x - 0x4973f715 * y;
    return word ^ (word >> 16);
  }

  std::array<uint32_t, 4> pool_{};
  uint32_t constant_ = 0x43b0d7e5;
};

}  // namespace

NumpyRandom::NumpyRandom(uint32_t seed) {
  const std::array<uint32_t, 8> words = SeedSequence(seed).state();
  const auto wide = [&words](std::size_t first) {  // a 128-bit number, upper half first
    const uint64_t upper = words[first] | uint64_t{words[first + 1]} << 32;
    const uint64_t lower = words[first + 2] | uint64_t{words[first + 3]} << 32;
    return Uint128{upper} << 64 | lower;
  };
  increment_ = wide(4) << 1 | 1;
  step();
  state_ += wide(0);
  step();
}

void NumpyRandom::step() {
  constexpr Uint128 kMultiplier = Uint128{0x2360ED051FC65DA4} << 64 | 0x4385DF649FCCF645;
  state_ = state_ * kMultiplier + increment_;
}

/// XSL-RR output: xor of both halves of the state, rotated by its top six bits.
uint64_t NumpyRandom::next_64() {
  step();
  const auto folded = static_cast<uint64_t>(state_ >> 64) ^ static_cast<uint64_t>(state_);
  const auto turn = static_cast<unsigned>(state_ >> 122);
  return folded >> turn | folded << (-turn & 63);
}

uint32_t NumpyRandom::next_32() {
  if (has_kept_) {
    has_kept_ = false;
    return kept_;
  }
  const uint64_t number = next_64();
  kept_ = static_cast<uint32_t>(number >> 32);
  has_kept_ = true;
  return static_cast<uint32_t>(number);
}

/// Lemire, "Fast random integer generation in an interval", 2019.
uint32_t NumpyRandom::below(uint32_t limit) {
  if (limit == 1) return 0;  // consumes no random number
  uint64_t product = uint64_t{next_32()} * limit;
  if (static_cast<uint32_t>(product) < limit) {
    const uint32_t threshold = -limit % limit;
    while (static_cast<uint32_t>(product) < threshold) product = uint64_t{next_32()} * limit;
  }
  return static_cast<uint32_t>(product >> 32);
}

}  // namespace heed
