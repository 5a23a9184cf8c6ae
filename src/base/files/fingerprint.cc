#include "base/files/fingerprint.h"

#include <fmt/format.h>

#include <bit>

namespace heed {

static_assert(std::endian::native == std::endian::little, "numbers are hashed and stored lowest byte first");

Fingerprint::Fingerprint() {
  XXH64_reset(&state_, /*seed=*/0);
}

void Fingerprint::add(const void* data, size_t size) {
  if (size == 0) return;
  XXH64_update(&state_, data, size);
  size_ += size;
}

uint64_t Fingerprint::value() const {
  return XXH64_digest(&state_);
}

std::string hexadecimal(uint64_t number) {
  return fmt::format("{:016x}", number);
}

}  // namespace heed
