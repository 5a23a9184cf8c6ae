#include "base/files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/files/descriptor_io.h"
#include "base/files/errno_reason.h"

namespace heed {

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock FileLock::take(const std::string& path, const std::string& what) {
  FileLock lock;
  lock.descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock.descriptor_ < 0) fail(ErrorKind::kFile, "cannot write '{}': {}", path, reason(errno));
  if (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return {};  // a file system without locks
    char text[32] = {};
    const ssize_t count = read_some_at(lock.descriptor_, text, sizeof text - 1, 0);
    const std::string_view process(text, count > 0 ? static_cast<size_t>(count) : 0);
    fail(ErrorKind::kUsage, "{} is in use by process {}; wait for that process, or end it", what,
         process.substr(0, process.find('\n')));
  }
  const std::string process = fmt::format("{}\n", ::getpid());
  // Only for the message above, so a full disk may leave the file empty.
  [[maybe_unused]] const bool noted = ::ftruncate(lock.descriptor_, 0) == 0 &&
                                      write_all_at(lock.descriptor_, process.data(), process.size(), 0);
  return lock;
}

void FileLock::release() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace heed
