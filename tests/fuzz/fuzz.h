// What the fuzzers share: bytes as a file, for readers that take a path, and which exceptions are answers.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

#include "heed/error.h"

namespace heed {

/// Runs a reader. An Error is an answer, as is memory that cannot be had; every other exception is a finding.
template <typename Read>
int fuzz(const Read& read) {
  try {
    read();
  } catch (const Error&) {
  } catch (const std::bad_alloc&) {
  }
  return 0;
}

/// A file in memory with these bytes; its path is valid as long as it lives.
class FileOfBytes {
 public:
  FileOfBytes(const uint8_t* bytes, size_t size) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0 || ::write(descriptor_, bytes, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~FileOfBytes() { ::close(descriptor_); }
  FileOfBytes(const FileOfBytes&) = delete;
  FileOfBytes& operator=(const FileOfBytes&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// A folder that a fuzzer reads: `name` beside the program, if it was copied somewhere, or `otherwise`.
inline std::string folder_beside(const std::string& name, const std::string& otherwise) {
  const std::filesystem::path beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
  return std::filesystem::exists(beside) ? beside.string() : otherwise;
}

inline std::string_view text_of(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace heed
