// A 64-bit hash of bytes, to detect data that changed between runs or was damaged on disk. Not cryptographic:
// it does not protect against deliberate forgery.
//
// XXH64 with seed 0 (Yann Collet, xxHash specification): fast, and computed incrementally.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

class Fingerprint {
 public:
  void add(const void* data, size_t size);
  void add(std::string_view text) { add(text.data(), text.size()); }
  /// Adds the eight bytes of a number, little-endian.
  void add_number(uint64_t number) { add(&number, sizeof number); }
  /// The hash of all bytes added so far; more may be added.
  uint64_t value() const;
  /// The number of bytes added.
  uint64_t size() const { return size_; }

 private:
  static constexpr size_t kBlock = 32;

  void add_block(const char* block);

  std::array<uint64_t, 4> lanes_ = start();
  std::array<char, kBlock> pending_{};  // the first size_ % kBlock bytes are not processed yet
  uint64_t size_ = 0;

  static std::array<uint64_t, 4> start();
};

/// 16 hexadecimal digits, the format of hashes in files.
std::string hexadecimal(uint64_t number);

}  // namespace heed
