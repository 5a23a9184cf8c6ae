// Files: read whole, write whole or not at all, map for reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The whole content of a regular file of at most `limit` bytes. Throws kNotFound, or kFile for a larger
/// file, for anything else (a directory, a named pipe, a device: none is waited for) and for a failed read.
/// For the files that a program finds for itself, in a model's directory above all.
std::string read_file(const std::string& path, size_t limit = size_t{1} << 30);

/// The whole content of what a user named: a regular file, a pipe or a device, read to its end. Throws
/// kNotFound, or kFile for a directory or a failed read.
std::string read_input(const std::string& path);

/// Whether a directory holds something of this name, a symbolic link to nothing included: such a file is not
/// absent but damaged, and reading it says so.
bool is_present(const std::string& path);

/// Writes a file whole or not at all: a temporary file beside it ("NAME.heed-123-0.part"), flushed to disk,
/// then renamed, and the directory flushed. Such files of killed processes are removed by the next write.
/// On any failure (also in the destructor without commit) the temporary file is removed and an
/// existing file stays as it was, and nothing more can be written. An existing file keeps its permissions, a
/// symbolic link stays one, and a device or pipe (/dev/stdout) is written to directly. Throws kFile.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Bytes written so far.
  uint64_t size() const { return size_; }
  /// Flushes, closes and renames. Nothing may be written afterwards.
  void commit();

 private:
  void open_part();
  void flush();
  void abandon();
  [[noreturn]] void fail_to_write();
  std::string path_;       // as given, for messages
  std::string target_;     // what commit() replaces
  std::string temporary_;  // empty where there is none: a device, or all is done
  std::vector<char> buffer_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

/// Writes `content` to `path` with AtomicFile.
void write_file(const std::string& path, std::string_view content);

/// Flushes the entries of a directory to disk, so that files made or renamed in it are still there after a
/// power cut. File systems that cannot do that are let be. Throws kFile where the flush fails.
void sync_directory(const std::string& directory);
/// The directory that holds `path`; "." for a bare name.
std::string directory_of(const std::string& path);

/// Makes a directory and its parents; an existing directory is fine. Throws kFile.
void make_directories(const std::string& path);

/// A file mapped read-only into memory, for data larger than memory. Throws kNotFound or kFile.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  std::string_view view() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace heed
