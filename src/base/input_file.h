// A regular file open for reading at any place, from any thread: for files of which only parts are wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heed {

class InputFile {
 public:
  /// Throws kNotFound, or kFile for anything but a regular file that may be read.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;

  const std::string& path() const { return path_; }
  /// Bytes in the file when it was opened.
  uint64_t size() const { return size_; }
  /// Of the open file, to which this keeps the right.
  int descriptor() const { return descriptor_; }
  /// Fills `destination` with the bytes [offset, offset + count), which must lie inside the file.
  /// Throws kFile where reading fails or the file has become shorter.
  void read_at(uint64_t offset, void* destination, size_t count) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace heed
