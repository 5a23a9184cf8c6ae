#include "base/files/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/files/descriptor_io.h"
#include "base/files/errno_reason.h"
#include "base/files/input_file.h"

namespace heed {

std::string read_file(const std::string& path, size_t limit) {
  const InputFile file(path);
  if (file.size() > limit) {
    fail(ErrorKind::kFile, "cannot read '{}': it has {} bytes; the maximum for this kind of file is {}", path,
         file.size(), limit);
  }
  std::string content(file.size(), '\0');
  file.read_at(0, content.data(), content.size());
  return content;
}

std::string read_input(const std::string& path, size_t limit) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    const ErrorKind kind = errno == ENOENT ? ErrorKind::kNotFound : ErrorKind::kFile;
    fail(kind, "cannot open '{}': {}", path, reason(errno));
  }
  std::string content;
  size_t used = 0;
  while (true) {
    if (used == content.size()) content.resize(std::max<size_t>(content.size() * 2, 65536));
    const ssize_t count = read_some(descriptor, content.data() + used, content.size() - used);
    if (count < 0) {
      const int number = errno;
      ::close(descriptor);
      fail(ErrorKind::kFile, "cannot read '{}': {}", path,
           number == EISDIR ? "it is a directory, not a file" : reason(number));
    }
    if (count == 0) break;
    used += static_cast<size_t>(count);
    if (used > limit) {
      ::close(descriptor);
      fail(ErrorKind::kFile, "cannot read '{}': it has more than {} bytes, the maximum for this kind of file",
           path, limit);
    }
  }
  ::close(descriptor);
  content.resize(used);
  return content;
}

bool is_present(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

MappedFile::MappedFile(const std::string& path) {
  const InputFile file(path);
  size_ = static_cast<size_t>(file.size());
  if (size_ == 0) return;
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (address == MAP_FAILED) fail(ErrorKind::kFile, "cannot map '{}' into memory: {}", path, reason(errno));
  data_ = static_cast<const char*>(address);
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
