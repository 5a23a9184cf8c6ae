// A library for LD_PRELOAD that logs what a command does to the files of a folder, for power_loss.py: each
// change of a name or of content, and each flush. $HEED_LOG_FOLDER: the folder. $HEED_LOG: the log, lines of
// an operation and its arguments, separated by tabs; what is written follows each other in $HEED_LOG.data.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

namespace {

int open_raw(const char* path, int flags, mode_t mode) {
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

class Log {
 public:
  Log() {
    const char* folder = std::getenv("HEED_LOG_FOLDER");
    const char* log = std::getenv("HEED_LOG");
    if (folder == nullptr || log == nullptr) return;
    folder_ = std::string(folder) + "/";
    constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    log_ = open_raw(log, kFlags, 0600);
    data_ = open_raw((std::string(log) + ".data").c_str(), kFlags, 0600);
  }

  bool holds(const std::string& path) const { return log_ >= 0 && path.starts_with(folder_); }

  void add(const std::string& operation, const std::string& path, const std::string& more = {}) const {
    const std::string line = operation + "\t" + path.substr(folder_.size()) + "\t" + more + "\n";
    put(log_, line.data(), line.size());
  }
  void add_written(const std::string& path, off_t offset, const void* bytes, size_t size) const {
    add("write", path, std::to_string(offset) + "\t" + std::to_string(size));
    put(data_, bytes, size);
  }

 private:
  static void put(int descriptor, const void* bytes, size_t size) {
    if (::syscall(SYS_write, descriptor, bytes, size) != static_cast<long>(size)) std::abort();
  }

  std::string folder_;
  int log_ = -1, data_ = -1;
};

std::recursive_mutex mutex;  // operations are logged in the order in which they happen

const Log& log() {
  static const Log log;
  return log;
}

std::string path_of(int descriptor) {
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = ::syscall(SYS_readlinkat, AT_FDCWD, link.c_str(), path, sizeof(path));
  return size < 0 ? std::string() : std::string(path, static_cast<size_t>(size));
}

std::string absolute(std::string_view path) {
  if (path.starts_with('/')) return std::string(path);
  char here[PATH_MAX];
  return ::syscall(SYS_getcwd, here, sizeof(here)) < 0 ? std::string()
                                                       : std::string(here) + "/" + std::string(path);
}

bool exists(const std::string& path) {
  return ::syscall(SYS_faccessat, AT_FDCWD, path.c_str(), F_OK) == 0;
}

/// Calls a system call; notes its operation if it succeeded.
template <typename Call>
int logged(const char* operation, const std::string& path, const Call& call, const std::string& more = {}) {
  const std::lock_guard lock(mutex);
  const auto result = static_cast<int>(call());
  const int number = errno;
  if (result == 0 && log().holds(path)) log().add(operation, path, more);
  errno = number;
  return result;
}

template <typename Call>
ssize_t logged_write(int descriptor, const void* bytes, off_t offset, const Call& call) {
  const std::lock_guard lock(mutex);
  const std::string path = path_of(descriptor);
  const bool appends = (::fcntl(descriptor, F_GETFL) & O_APPEND) != 0;
  if (offset < 0) offset = ::syscall(SYS_lseek, descriptor, 0, appends ? SEEK_END : SEEK_CUR);
  const ssize_t written = call();
  const int number = errno;
  if (written > 0 && log().holds(path)) log().add_written(path, offset, bytes, static_cast<size_t>(written));
  errno = number;
  return written;
}

/// open(): gives what opens the file, or what says that it cannot.
template <typename Open>
auto opened(const char* path, bool creates, bool truncates, const Open& open) {
  const std::lock_guard lock(mutex);
  const std::string whole = absolute(path);
  const bool existed = exists(whole);
  const auto file = open();
  const int number = errno;
  if (log().holds(whole) && exists(whole)) {
    if (!existed && creates) log().add("create", whole);
    if (existed && truncates) log().add("truncate", whole, "0");
  }
  errno = number;
  return file;
}

FILE* opened_stream(const char* path, const char* mode, const char* real) {
  using Function = FILE* (*)(const char*, const char*);
  const auto open = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, real));
  return opened(path, *mode != 'r', *mode == 'w', [&] { return open(path, mode); });
}

mode_t mode_of(int flags, va_list rest) {
  return (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return opened(path, (flags & O_CREAT) != 0, (flags & O_TRUNC) != 0,
                [&] { return open_raw(path, flags, mode); });
}

int open64(const char* path, int flags, ...) __attribute__((alias("open")));

// Of streams; those of C++ write by write() and writev().
FILE* fopen(const char* path, const char* mode) {
  return opened_stream(path, mode, "fopen");
}
FILE* fopen64(const char* path, const char* mode) {
  return opened_stream(path, mode, "fopen64");
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  return logged_write(descriptor, bytes, -1, [&] { return ::syscall(SYS_write, descriptor, bytes, size); });
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  return logged_write(descriptor, bytes, offset,
                      [&] { return ::syscall(SYS_pwrite64, descriptor, bytes, size, offset); });
}

// The caller writes the rest by further calls.
ssize_t writev(int descriptor, const iovec* parts, int count) {
  for (int n = 0; n < count; ++n) {
    if (parts[n].iov_len > 0) return write(descriptor, parts[n].iov_base, parts[n].iov_len);
  }
  return 0;
}

// Its callers copy the bytes themselves then.
ssize_t sendfile(int, int, off_t*, size_t) noexcept {
  errno = ENOSYS;
  return -1;
}

int ftruncate(int descriptor, off_t size) noexcept {
  return logged(
      "truncate", path_of(descriptor), [&] { return ::syscall(SYS_ftruncate, descriptor, size); },
      std::to_string(size));
}

int fsync(int descriptor) {
  return logged("flush", path_of(descriptor), [&] { return ::syscall(SYS_fsync, descriptor); });
}

int fdatasync(int descriptor) {
  return logged("flush", path_of(descriptor), [&] { return ::syscall(SYS_fdatasync, descriptor); });
}

int rename(const char* from, const char* to) noexcept {
  return logged(
      "rename", absolute(from), [&] { return ::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0); },
      absolute(to));
}

int mkdir(const char* path, mode_t mode) noexcept {
  return logged("mkdir", absolute(path), [&] { return ::syscall(SYS_mkdirat, AT_FDCWD, path, mode); });
}

int unlink(const char* path) noexcept {
  return logged("unlink", absolute(path), [&] { return ::syscall(SYS_unlinkat, AT_FDCWD, path, 0); });
}

int rmdir(const char* path) noexcept {
  return logged("unlink", absolute(path),
                [&] { return ::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR); });
}

int remove(const char* path) noexcept {
  struct stat status {};
  const bool directory = ::lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
  return directory ? rmdir(path) : unlink(path);
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  const std::string whole = folder == AT_FDCWD ? absolute(path) : path_of(folder) + "/" + path;
  return logged("unlink", whole, [&] { return ::syscall(SYS_unlinkat, folder, path, flags); });
}

}  // extern "C"
