// The bytes of a text file, a pipe or standard input. Files compressed by gzip or zstd are decompressed; they
// are recognized by their first bytes, whatever they are called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/corpus/readers/compression.h"

namespace heed {

class ByteSource {
 public:
  /// "-" is standard input. Reads nothing yet. Throws kNotFound or kFile.
  explicit ByteSource(const std::string& path);
  ~ByteSource();
  ByteSource(ByteSource&& other) noexcept;
  ByteSource& operator=(ByteSource&& other) noexcept;

  /// Reads at least one and at most `size` bytes; 0 at the end. Does not wait for more than one byte. Throws
  /// kFile if reading fails, and kFormat for damaged compressed data.
  size_t read(char* destination, size_t size);
  /// Whether read() returns without blocking. False only for a terminal or a pipe without new data.
  bool ready() const;
  /// Skips up to `count` bytes; returns the number skipped, which is less only at the end.
  uint64_t skip(uint64_t count);

  /// The name for messages: the quoted path, or "standard input".
  const std::string& name() const { return name_; }

 private:
  size_t read_raw(char* destination, size_t size);
  void recognize();

  std::string name_;
  int descriptor_ = -1;
  bool recognized_ = false;
  std::unique_ptr<Decompressor> decompressor_;  // none: plain bytes
  std::vector<char> raw_;                       // bytes as in the file, [raw_begin_, raw_end_)
  size_t raw_begin_ = 0, raw_end_ = 0;
};

/// The number of bytes of a regular file, decompressed. A compressed file is read to its end. Throws what
/// ByteSource throws, and kUsage for anything else than a regular file.
uint64_t decompressed_size(const std::string& path);

}  // namespace heed
