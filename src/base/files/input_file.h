// A regular file with thread-safe reads at any offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heed {

class InputFile {
 public:
  /// Throws kNotFound, kFile unless it is a readable regular file, or kFormat for a pointer of Git LFS.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;

  const std::string& path() const { return path_; }
  /// The file size at the time of opening.
  uint64_t size() const { return size_; }
  /// The file descriptor; this object keeps ownership.
  int descriptor() const { return descriptor_; }
  /// Reads the bytes [offset, offset + count), which must lie inside the file, to `destination`. Throws kFile
  /// if reading fails or the file was truncated.
  void read_at(uint64_t offset, void* destination, size_t count) const;
  /// Throws kFile if the file was written to since it was opened. Another file in its place does not matter.
  void require_unchanged() const;

 private:
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
  int64_t modified_ns_ = 0;  // the time of the last change, in nanoseconds
};

}  // namespace heed
