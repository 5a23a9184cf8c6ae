// A 64-bit hash of bytes, to detect data that changed between runs or was damaged on disk. Not cryptographic:
// it does not protect against deliberate forgery.
//
// XXH64 with seed 0 (Yann Collet, xxHash specification): fast, and computed incrementally.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#define XXH_INLINE_ALL  // the library's state may lie in ours, and nothing is linked
#include <xxhash.h>

namespace heed {

class Fingerprint {
 public:
  Fingerprint();
  void add(const void* data, size_t size);
  void add(std::string_view text) { add(text.data(), text.size()); }
  /// Adds the eight bytes of a number, little-endian.
  void add_number(uint64_t number) { add(&number, sizeof number); }
  /// The hash of all bytes added so far; more may be added.
  uint64_t value() const;
  /// The number of bytes added.
  uint64_t size() const { return size_; }

 private:
  XXH64_state_t state_;
  uint64_t size_ = 0;
};

/// 16 hexadecimal digits, the format of hashes in files.
std::string hexadecimal(uint64_t number);

}  // namespace heed
