#include "base/files/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are hashed and stored lowest byte first");

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5;

template <typename Number>
uint64_t load(const char* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

uint64_t mix(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * kPrime2, 31) * kPrime1;
}

}  // namespace

std::array<uint64_t, 4> Fingerprint::start() {
  return {kPrime1 + kPrime2, kPrime2, 0, uint64_t{0} - kPrime1};
}

void Fingerprint::add_block(const char* block) {
  for (size_t n = 0; n < lanes_.size(); ++n) lanes_[n] = mix(lanes_[n], load<uint64_t>(block + 8 * n));
}

void Fingerprint::add(const void* data, size_t size) {
  if (size == 0) return;
  const char* bytes = static_cast<const char*>(data);
  const size_t held = size_ % kBlock;
  size_ += size;
  if (held > 0) {
    const size_t part = std::min(size, kBlock - held);
    std::memcpy(pending_.data() + held, bytes, part);
    bytes += part;
    size -= part;
    if (held + part < kBlock) return;
    add_block(pending_.data());
  }
  for (; size >= kBlock; bytes += kBlock, size -= kBlock) add_block(bytes);
  std::memcpy(pending_.data(), bytes, size);
}

uint64_t Fingerprint::value() const {
  uint64_t hash = kPrime5;
  if (size_ >= kBlock) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
           std::rotl(lanes_[3], 18);
    for (const uint64_t lane : lanes_) hash = (hash ^ mix(0, lane)) * kPrime1 + kPrime4;
  }
  hash += size_;
  const char* bytes = pending_.data();
  const char* end = bytes + size_ % kBlock;
  for (; end - bytes >= 8; bytes += 8) {
    hash = std::rotl(hash ^ mix(0, load<uint64_t>(bytes)), 27) * kPrime1 + kPrime4;
  }
  for (; end - bytes >= 4; bytes += 4) {
    hash = std::rotl(hash ^ (load<uint32_t>(bytes) * kPrime1), 23) * kPrime2 + kPrime3;
  }
  for (; bytes < end; ++bytes) hash = std::rotl(hash ^ (load<uint8_t>(bytes) * kPrime5), 11) * kPrime1;
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

std::string hexadecimal(uint64_t number) {
  return fmt::format("{:016x}", number);
}

}  // namespace heed
