// A 64-bit fingerprint of bytes, to notice that data changed between two runs or was damaged on disk.
// Not a cryptographic hash: it does not protect against somebody who forges data on purpose.
//
// The function is XXH64 with seed 0 (Yann Collet, the xxHash specification), which reads several bytes per
// cycle and can be computed while a file streams by.
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
  /// Adds the eight bytes of a number, lowest first.
  void add_number(uint64_t number) { add(&number, sizeof number); }
  /// The fingerprint of all bytes so far; more may follow.
  uint64_t value() const;
  /// How many bytes were added.
  uint64_t size() const { return size_; }

 private:
  static constexpr size_t kBlock = 32;

  void add_block(const char* block);

  std::array<uint64_t, 4> lanes_ = start();
  std::array<char, kBlock> pending_{};  // the first size_ % kBlock bytes are yet to be added
  uint64_t size_ = 0;

  static std::array<uint64_t, 4> start();
};

/// 16 digits, as fingerprints are written in files.
std::string hexadecimal(uint64_t number);

}  // namespace heed
