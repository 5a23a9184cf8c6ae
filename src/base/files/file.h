// Reading whole files, writing files atomically, memory-mapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The content of a regular file of at most `limit` bytes, such as a file of a model directory. Throws
/// kNotFound, kFile for a larger file, a directory, a named pipe, a device (without blocking) or a failed
/// read, or kFormat for a pointer of Git LFS.
std::string read_file(const std::string& path, size_t limit = size_t{1} << 30);

/// The content of a file given by the user: a regular file, a pipe or a device, read to its end. Throws
/// kNotFound, or kFile for a directory, a failed read or more than `limit` bytes.
std::string read_input(const std::string& path, size_t limit = size_t{1} << 24);

/// Whether a directory entry exists. True for dangling symbolic links: they are damaged files, and reading
/// one is an error.
bool is_present(const std::string& path);

/// Writes a file atomically: to a temporary file beside it ("NAME.heed-123-0.part"), which commit() flushes
/// to disk and renames; then the directory is flushed. The next write removes temporary files of killed
/// processes. On failure, and in the destructor without commit(), the temporary file is removed and an
/// existing file is unchanged; nothing more can be written then. An existing file keeps its permissions and
/// must be writable, symbolic links are followed, and a device or pipe (/dev/stdout) is written to directly.
///
/// A file that is a mount point, or in a directory that is not writable, cannot be replaced: commit() copies
/// to it, in the second case from the directory of temporary files. If the copy fails, the temporary file is
/// kept and the error names it. Throws kFile.
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
  void open_part(const std::string& path);
  void flush();
  bool copy_to_target();
  void remove_part();
  void abandon();
  [[noreturn]] void fail_to_write();
  [[noreturn]] void fail_to_copy();
  std::string path_;       // as given, for messages
  std::string target_;     // what commit() replaces
  std::string temporary_;  // empty for a device, and after commit()
  std::vector<char> buffer_;
  int descriptor_ = -1;
  bool copies_ = false;  // the temporary file is in another directory
  uint64_t size_ = 0;
};

/// Writes `content` to `path` with AtomicFile.
void write_file(const std::string& path, std::string_view content);

/// Flushes the entries of a directory to disk, so that files created or renamed in it survive a power
/// failure. Does nothing on file systems without support for it. Throws kFile if the flush fails.
void sync_directory(const std::string& directory);
/// The parent directory of `path`; "." for a bare name.
std::string directory_of(const std::string& path);

/// Creates a directory and its parents if missing. Throws kFile.
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
