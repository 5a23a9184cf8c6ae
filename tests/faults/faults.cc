// A library for LD_PRELOAD that lets a call of the command fail. $HEED_FAIL_ALLOCATION=N: the N-th allocation
// by operator new. $HEED_FAIL_CALL=NAME:N: the N-th system call of that name (kFaults), NAME:N+: all of
// them from the N-th on, as if a disk or the address space were full. Calls are counted from
// std::set_terminate() on, with which the command begins: before main() an error cannot be caught. Once a
// system call has failed, the file $HEED_FAULT_HAPPENED exists.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

namespace {

std::atomic<bool> begun{false};

long chosen(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}

void* allocate(std::size_t size) {
  static std::atomic<long> left{chosen("HEED_FAIL_ALLOCATION")};
  if (begun && left.load() > 0 && left.fetch_sub(1) == 1) throw std::bad_alloc();
  void* memory = std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// The system calls that can fail, and with what.
struct Fault {
  std::string_view call;
  int error;
};
constexpr Fault kFaults[] = {{"open", EMFILE}, {"read", EIO},    {"write", ENOSPC}, {"fsync", EIO},
                             {"rename", EIO},  {"mmap", ENOMEM}, {"close", EIO}};

/// What $HEED_FAIL_CALL chooses; no call, if it is not set.
struct Choice {
  std::string_view call;
  int error = 0;
  long first = 0;
  bool all = false;

  Choice() {
    const char* text = std::getenv("HEED_FAIL_CALL");
    const char* colon = text == nullptr ? nullptr : std::strchr(text, ':');
    if (colon == nullptr) return;
    for (const Fault& fault : kFaults) {
      if (fault.call != std::string_view(text, static_cast<size_t>(colon - text))) continue;
      call = fault.call;
      error = fault.error;
    }
    if (call.empty()) std::abort();  // a mistake in the test
    first = std::atol(colon + 1);
    all = text[std::strlen(text) - 1] == '+';
  }
};

/// Whether this call fails; sets errno if so.
bool fails(std::string_view call) {
  static const Choice choice;
  static std::atomic<long> count{0};
  if (!begun || call != choice.call) return false;
  const long number = ++count;
  if (number < choice.first || (number > choice.first && !choice.all)) return false;
  if (const char* mark = std::getenv("HEED_FAULT_HAPPENED")) {
    ::syscall(SYS_close, ::syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT, 0600));
  }
  errno = choice.error;
  return true;
}

}  // namespace

std::terminate_handler std::set_terminate(std::terminate_handler handler) noexcept {
  using Function = std::terminate_handler (*)(std::terminate_handler);
  begun = true;
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "_ZSt13set_terminatePFvvE"))(handler);
}

extern "C" int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  return fails("open") ? -1 : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

extern "C" ssize_t read(int descriptor, void* bytes, size_t size) {
  return fails("read") ? -1 : ::syscall(SYS_read, descriptor, bytes, size);
}

extern "C" ssize_t pread(int descriptor, void* bytes, size_t size, off_t offset) {
  return fails("read") ? -1 : ::syscall(SYS_pread64, descriptor, bytes, size, offset);
}

extern "C" ssize_t write(int descriptor, const void* bytes, size_t size) {
  return fails("write") ? -1 : ::syscall(SYS_write, descriptor, bytes, size);
}

extern "C" ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  return fails("write") ? -1 : ::syscall(SYS_pwrite64, descriptor, bytes, size, offset);
}

extern "C" int fsync(int descriptor) {
  return fails("fsync") ? -1 : static_cast<int>(::syscall(SYS_fsync, descriptor));
}

extern "C" int rename(const char* from, const char* to) noexcept {
  return fails("rename") ? -1 : static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

// The C library has maps of its own, also for its heap, that do not come here.
extern "C" void* mmap(void* address, size_t size, int protection, int flags, int descriptor,
                      off_t offset) noexcept {
  if (fails("mmap")) return MAP_FAILED;
  return reinterpret_cast<void*>(::syscall(SYS_mmap, address, size, protection, flags, descriptor, offset));
}

// The descriptor is closed, as Linux does it, whatever it returns.
extern "C" int close(int descriptor) {
  const int result = static_cast<int>(::syscall(SYS_close, descriptor));
  return fails("close") ? -1 : result;
}

void* operator new(std::size_t size) {
  return allocate(size);
}
void* operator new[](std::size_t size) {
  return allocate(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
