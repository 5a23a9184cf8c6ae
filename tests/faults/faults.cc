// A library for LD_PRELOAD. The allocation by operator new of the number $HEED_FAIL_ALLOCATION fails, counted
// from the call of std::set_terminate() with which the command begins, the fsync() of the number
// $HEED_FAIL_FLUSH, and all mmap() of the program and its libraries from the number $HEED_FAIL_MMAP on, as if
// the address space were full. Before main() an error cannot be caught.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <new>

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

}  // namespace

std::terminate_handler std::set_terminate(std::terminate_handler handler) noexcept {
  using Function = std::terminate_handler (*)(std::terminate_handler);
  begun = true;
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "_ZSt13set_terminatePFvvE"))(handler);
}

extern "C" int fsync(int descriptor) {
  static std::atomic<long> left{chosen("HEED_FAIL_FLUSH")};
  if (left.load() > 0 && left.fetch_sub(1) == 1) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

// The C library has maps of its own, also for its heap, that do not come here.
extern "C" void* mmap(void* address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  static const long first = chosen("HEED_FAIL_MMAP");
  static std::atomic<long> count{0};
  if (first > 0 && ++count >= first) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  const long result = ::syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
  return reinterpret_cast<void*>(result);
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
