#include "base/files/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/files/descriptor_io.h"
#include "base/files/errno_reason.h"

namespace heed {
namespace {

constexpr size_t kMaxReadBytes = size_t{1} << 30;  // Linux reads at most 2 GiB in one call

int64_t modified_ns(const struct stat& status) {
  constexpr int64_t kSecond = 1'000'000'000;
  return status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec;
}

/// What a clone without Git LFS has in place of a large file (git-lfs, docs/spec.md).
bool is_git_lfs_pointer(int descriptor, uint64_t size) {
  constexpr std::string_view kStart = "version https://git-lfs";
  constexpr uint64_t kLargest = 1024;
  if (size < kStart.size() || size >= kLargest) return false;
  std::array<char, kStart.size()> start{};
  return read_some_at(descriptor, start.data(), start.size(), 0) == static_cast<ssize_t>(start.size()) &&
         std::string_view(start.data(), start.size()) == kStart;
}

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer. No effect on regular files.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    const int number = errno;
    fail(number == ENOENT ? ErrorKind::kNotFound : ErrorKind::kFile, "cannot open '{}': {}", path_,
         reason(number));
  }
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(std::exchange(descriptor_, -1));
    fail(ErrorKind::kFile, "cannot read '{}': it is {}", path_,
         known && S_ISDIR(status.st_mode) ? "a directory, not a file"
                                          : "a pipe, a socket or a device, not a regular file");
  }
  size_ = static_cast<uint64_t>(status.st_size);
  modified_ns_ = modified_ns(status);
  if (is_git_lfs_pointer(descriptor_, size_)) {
    ::close(std::exchange(descriptor_, -1));
    fail(ErrorKind::kFormat,
         "'{}' is a pointer of Git LFS, not the file itself: run git lfs pull, or download it again", path_);
  }
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(std::exchange(other.size_, 0)),
      modified_ns_(other.modified_ns_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(modified_ns_, other.modified_ns_);
  return *this;
}

void InputFile::require_unchanged() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0)
    fail(ErrorKind::kFile, "cannot read '{}': {}", path_, reason(errno));
  if (static_cast<uint64_t>(status.st_size) == size_ && modified_ns(status) == modified_ns_) return;
  fail(ErrorKind::kFile, "'{}' was changed while it was in use: load it again", path_);
}

void InputFile::read_at(uint64_t offset, void* destination, size_t count) const {
  HEED_CHECK(offset <= size_ && count <= size_ - offset);
  char* to = static_cast<char*>(destination);
  while (count > 0) {
    const ssize_t got =
        read_some_at(descriptor_, to, std::min(count, kMaxReadBytes), static_cast<off_t>(offset));
    if (got < 0) fail(ErrorKind::kFile, "cannot read '{}': {}", path_, reason(errno));
    if (got == 0) {
      fail(ErrorKind::kFile, "'{}' was truncated while being read: it had {} bytes and ends at {}", path_,
           size_, offset);
    }
    to += got;
    offset += static_cast<uint64_t>(got);
    count -= static_cast<size_t>(got);
  }
}

}  // namespace heed
