#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/check.h"

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
