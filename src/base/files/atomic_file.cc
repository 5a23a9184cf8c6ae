// AtomicFile and the other functions of file.h that write.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/files/descriptor_io.h"
#include "base/files/errno_reason.h"
#include "base/files/file.h"
#include "base/files/part_files.h"
#include "base/files/unfinished_files.h"

namespace heed {
namespace {

constexpr size_t kBufferSize = 1 << 20;
constexpr int kMostLinks = 40;  // as Linux follows

struct Destination {
  std::string file;
  int descriptor = -1;  ///< of this process, if the path names one, such as /dev/stdout
};

/// The file that a path names: that of a symbolic link, whether it exists or not.
Destination behind_links(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string descriptors = fmt::format("/proc/{}/fd", ::getpid());
  fs::path file = path;
  for (int links = 0; fs::is_symlink(file, error); ++links) {
    if (fs::canonical(file.parent_path(), error) == descriptors) {
      return {{}, std::atoi(file.filename().c_str())};
    }
    const fs::path next = fs::read_symlink(file, error);
    if (error || links == kMostLinks) {
      fail(ErrorKind::kFile, "cannot write '{}': {}", path, error ? error.message() : reason(ELOOP));
    }
    file = file.parent_path() / next;
  }
  return {file.string()};
}

/// Whether an error says that a file or folder must not be written, and not that it could not be asked.
bool is_refusal(int number) {
  return number == EACCES || number == EROFS;
}

/// Takes space for the first bytes of a file, whose size stays. False with errno if there is none.
bool has_room([[maybe_unused]] int descriptor, [[maybe_unused]] uint64_t bytes) {
#ifdef FALLOC_FL_KEEP_SIZE
  if (bytes == 0) return true;
  return ::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0 || errno != ENOSPC;
#else
  return true;
#endif
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    fail(ErrorKind::kFile, "cannot write '{}': it is a directory; give a file name", path_);
  }
  const Destination destination = behind_links(path_);
  if (destination.descriptor >= 0) {
    // What is open is written on: standard output may be a file that others write to as well.
    descriptor_ = ::fcntl(destination.descriptor, F_DUPFD_CLOEXEC, 0);
  } else if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);  // a device or a pipe is never replaced
  } else {
    // A rename asks for the rights to the directory alone, not to the file that it replaces.
    const bool writable = exists && ::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) == 0;
    if (exists && !writable && is_refusal(errno)) fail_to_write();
    target_ = destination.file;
    remove_dead_parts_of(target_);
    open_part(target_);
    if (descriptor_ < 0 && writable && is_refusal(errno)) {
      // Only the file is writable, such as one of a container's host in a folder of the system.
      copies_ = true;
      std::error_code error;
      const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
      if (error) fail(ErrorKind::kFile, "cannot write '{}': TMPDIR: {}", path_, error.message());
      open_part((folder / std::filesystem::path(target_).filename()).string());
    }
  }
  if (descriptor_ < 0) fail_to_write();
  if (exists && !temporary_.empty()) ::fchmod(descriptor_, status.st_mode & 0777);
  buffer_.reserve(kBufferSize);
}

void AtomicFile::open_part(const std::string& path) {
  while (true) {
    temporary_ = create_part(path, [&](const std::string& name) {
      descriptor_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      return descriptor_ >= 0;
    });
    if (descriptor_ < 0 || lock_part(descriptor_)) return;
    abandon();  // another process removed it as an abandoned file
  }
}

AtomicFile::~AtomicFile() {
  abandon();
}

void AtomicFile::remove_part() {
  ::unlink(temporary_.c_str());
  forget_unfinished(std::exchange(temporary_, {}));
}

void AtomicFile::abandon() {
  if (!temporary_.empty()) remove_part();
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void AtomicFile::fail_to_write() {
  const int number = errno;
  abandon();
  fail(ErrorKind::kFile, "cannot write '{}': {}", path_, reason(number));
}

void AtomicFile::fail_to_copy() {
  const int number = errno;
  const std::string part = std::exchange(temporary_, {});
  forget_unfinished(part);
  abandon();
  fail(ErrorKind::kFile, "cannot write '{}': {}; what was to be written is in '{}'", path_, reason(number),
       part);
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
  if (!write_all(descriptor_, buffer_.data(), buffer_.size())) fail_to_write();
  buffer_.clear();
}

/// A mount point, such as a single file of a container's host, cannot be replaced, only written on. Space is
/// taken before the old content is lost.
bool AtomicFile::copy_to_target() {
  const int target = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  if (target < 0) return false;
  if (!has_room(target, size_)) {
    const int number = errno;
    ::close(target);
    errno = number;
    return false;
  }
  buffer_.resize(kBufferSize);
  off_t copied = 0;
  bool written = true;
  while (written) {
    const ssize_t count = read_some_at(descriptor_, buffer_.data(), buffer_.size(), copied);
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;  // Ctrl-C is no reason to leave half a file
    written = count > 0 && write_all(target, buffer_.data(), static_cast<size_t>(count));
    copied += count;
  }
  written = written && ::ftruncate(target, copied) == 0 && flush_to_disk(target);
  const int number = errno;
  const bool closed = ::close(target) == 0;
  if (!written) errno = number;
  return written && closed;
}

void AtomicFile::commit() {
  HEED_CHECK(descriptor_ >= 0);
  flush();
  if (!flush_to_disk(descriptor_)) fail_to_write();
  if (!temporary_.empty()) {
    // Rename before closing, since closing releases the lock.
    if (!copies_ && ::rename(temporary_.c_str(), target_.c_str()) == 0) {
      forget_unfinished(std::exchange(temporary_, {}));
    } else {
      if (!copies_ && errno != EBUSY) fail_to_write();
      if (!copy_to_target()) fail_to_copy();
      remove_part();
    }
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_to_write();
  if (!target_.empty()) sync_directory(directory_of(target_));
}

void sync_directory(const std::string& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // a directory that is writable but not readable
  const bool flushed = flush_to_disk(descriptor);
  const int number = errno;
  ::close(descriptor);
  if (!flushed) fail(ErrorKind::kFile, "cannot flush the directory '{}': {}", directory, reason(number));
}

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

void write_file(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

void make_directories(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::string> parents;  // parents of new directories
  fs::path each = fs::path(path).has_filename() ? fs::path(path) : fs::path(path).parent_path();
  for (; !each.empty() && !fs::exists(each, error); each = each.parent_path()) {
    parents.push_back(directory_of(each.string()));
  }
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path, error)) {
    fail(ErrorKind::kFile, "cannot create the directory '{}': {}", path,
         error ? error.message() : "a file with this name exists");
  }
  for (const std::string& parent : parents) sync_directory(parent);
}

}  // namespace heed
