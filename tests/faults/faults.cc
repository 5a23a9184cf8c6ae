// A library for LD_PRELOAD. The allocation by operator new of the number $HEED_FAIL_ALLOCATION fails, counted
// from the call of std::set_terminate() with which the command begins, and the fsync() of the number
// $HEED_FAIL_FLUSH. Before main() an error cannot be caught.
#include <dlfcn.h>
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
