#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/unfinished_files.h"

namespace heed {
namespace {

std::string reason(int number) {
  return std::generic_category().message(number);
}

/// Opens a regular file for reading and returns its descriptor.
int open_for_reading(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    const ErrorKind kind = errno == ENOENT ? ErrorKind::kNotFound : ErrorKind::kFile;
    fail(kind, "cannot open '{}': {}", path, reason(errno));
  }
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    fail(ErrorKind::kFile, "cannot read '{}': it is a directory, a file is needed", path);
  }
  return descriptor;
}

constexpr size_t kBufferSize = 1 << 20;

}  // namespace

std::string read_file(const std::string& path) {
  const int descriptor = open_for_reading(path);
  std::string content;
  size_t used = 0;
  while (true) {
    if (used == content.size()) content.resize(std::max<size_t>(content.size() * 2, 65536));
    const ssize_t count = ::read(descriptor, content.data() + used, content.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int number = errno;
      ::close(descriptor);
      fail(ErrorKind::kFile, "cannot read '{}': {}", path, reason(number));
    }
    if (count == 0) break;
    used += static_cast<size_t>(count);
  }
  ::close(descriptor);
  content.resize(used);
  return content;
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    fail(ErrorKind::kFile, "cannot write '{}': it is a directory, give the name of a file", path_);
  }
  if (exists && !S_ISREG(status.st_mode)) {
    // A device or a pipe, such as /dev/stdout: it must not be replaced, and has no content to protect.
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    // A link stays a link: what it points to is replaced.
    target_ = exists ? std::filesystem::canonical(path_).string() : path_;
    static std::atomic<unsigned> counter{0};
    temporary_ = fmt::format("{}.{}-{}.part", target_, ::getpid(), counter++);
    note_unfinished(temporary_);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) {
    const int number = errno;
    forget_unfinished(temporary_);
    fail(ErrorKind::kFile, "cannot write '{}': {}", path_, reason(number));
  }
  if (exists && !temporary_.empty()) ::fchmod(descriptor_, status.st_mode & 0777);
  buffer_.reserve(kBufferSize);
}

AtomicFile::~AtomicFile() {
  abandon();
}

void AtomicFile::abandon() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  forget_unfinished(std::exchange(temporary_, {}));
}

void AtomicFile::fail_to_write() {
  const int number = errno;
  abandon();
  fail(ErrorKind::kFile, "cannot write '{}': {}", path_, reason(number));
}

void AtomicFile::write(const void* data, size_t size) {
  HEED_CHECK(descriptor_ >= 0);
  const char* bytes = static_cast<const char*>(data);
  size_ += size;
  while (size > 0) {
    const size_t part = std::min(size, kBufferSize - buffer_.size());
    buffer_.insert(buffer_.end(), bytes, bytes + part);
    bytes += part;
    size -= part;
    if (buffer_.size() == kBufferSize) flush();
  }
}

void AtomicFile::flush() {
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t count = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to_write();
    done += static_cast<size_t>(count);
  }
  buffer_.clear();
}

void AtomicFile::commit() {
  HEED_CHECK(descriptor_ >= 0);
  flush();
  // Pipes and some file systems cannot flush to disk, and say so with EINVAL or ENOTSUP.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) fail_to_write();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_to_write();
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_to_write();
  forget_unfinished(std::exchange(temporary_, {}));
}

void write_file(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

void make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path, error)) {
    fail(ErrorKind::kFile, "cannot make the directory '{}': {}", path,
         error ? error.message() : "something else has this name");
  }
}

MappedFile::MappedFile(const std::string& path) {
  const int descriptor = open_for_reading(path);
  struct stat status {};
  ::fstat(descriptor, &status);
  size_ = static_cast<size_t>(status.st_size);
  if (size_ > 0) {
    void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    const int number = errno;
    ::close(descriptor);
    if (address == MAP_FAILED)
      fail(ErrorKind::kFile, "cannot map '{}' into memory: {}", path, reason(number));
    data_ = static_cast<const char*>(address);
  } else {
    ::close(descriptor);
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace heed
