// A library for LD_PRELOAD that lets calls of the command fail. $HEED_FAIL_CALL=NAME:N: the N-th call of that
// name (kFaults); NAME:N+: all of them from the N-th on, as if a disk or the address space were full.
// $HEED_FAULT_CONTROL=FILE: a test chooses while the command runs; the file has the form of Control, and is
// mapped. Calls are counted from std::set_terminate() on, with which the command begins: before main() an
// error cannot be caught. Once a call has failed, the file $HEED_FAULT_HAPPENED exists.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <string_view>

namespace {

std::atomic<bool> begun{false};

/// The calls that can fail, and with what if nothing else is chosen. "new" is operator new, "thread"
/// pthread_create.
struct Fault {
  std::string_view call;
  int error;
};
constexpr Fault kFaults[] = {{"new", ENOMEM},          {"thread", EAGAIN},
                             {"open", EMFILE},         {"read", EIO},
                             {"write", ENOSPC},        {"fsync", EIO},
                             {"rename", EIO},          {"mmap", ENOMEM},
                             {"close", EIO},           {"socket", EMFILE},
                             {"bind", EADDRINUSE},     {"listen", EADDRINUSE},
                             {"getsockname", ENOBUFS}, {"getpeername", ENOTCONN},
                             {"setsockopt", ENOBUFS},  {"accept", EMFILE},
                             {"recv", ECONNRESET},     {"send", EPIPE},
                             {"shutdown", ENOTCONN},   {"ioctl", EIO},
                             {"epoll_create", EMFILE}, {"epoll_add", ENOMEM},
                             {"epoll_wait", EINTR}};

/// In place of an error: the call transfers a single byte.
constexpr int64_t kShort = -1;

/// Which calls fail. A test that shares it clears `call` first and writes it last.
struct Control {
  char call[16];
  std::atomic<int64_t> error;        // 0: that of kFaults
  std::atomic<int64_t> first, last;  // numbers of the calls that fail, from 1
  std::atomic<int64_t> count, failed;
};
static_assert(std::atomic<int64_t>::is_always_lock_free && sizeof(Control) == 56);

Control own_control{};

void choose_from_environment() {
  const char* text = std::getenv("HEED_FAIL_CALL");
  const char* colon = text == nullptr ? nullptr : std::strchr(text, ':');
  if (colon == nullptr) return;
  const std::string_view call(text, static_cast<size_t>(colon - text));
  const bool known = std::any_of(std::begin(kFaults), std::end(kFaults),
                                 [&](const Fault& each) { return each.call == call; });
  if (!known || call.size() >= sizeof own_control.call) std::abort();  // a mistake in the test
  std::memcpy(own_control.call, call.data(), call.size());
  own_control.first = std::atol(colon + 1);
  const bool all = text[std::strlen(text) - 1] == '+';
  own_control.last = all ? std::numeric_limits<int64_t>::max() : own_control.first.load();
}

Control* shared_control() {
  const char* path = std::getenv("HEED_FAULT_CONTROL");
  if (path == nullptr) {
    choose_from_environment();
    return &own_control;
  }
  const long file = ::syscall(SYS_openat, AT_FDCWD, path, O_RDWR);
  const long map = ::syscall(SYS_mmap, nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::syscall(SYS_close, file);
  if (file < 0 || map < 0) std::abort();
  return reinterpret_cast<Control*>(map);
}

/// What becomes of this call: 0 nothing, else an error or kShort.
int64_t fault_of(std::string_view call) {
  if (!begun) return 0;
  static Control& control = *shared_control();
  if (call != std::string_view(control.call, ::strnlen(control.call, sizeof control.call))) return 0;
  const int64_t number = ++control.count;
  if (number < control.first || number > control.last) return 0;
  if (const char* mark = std::getenv("HEED_FAULT_HAPPENED"); mark != nullptr && control.failed == 0) {
    ::syscall(SYS_close, ::syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT, 0600));
  }
  ++control.failed;
  if (control.error != 0) return control.error;
  return std::find_if(std::begin(kFaults), std::end(kFaults),
                      [&](const Fault& each) { return each.call == call; })
      ->error;
}

/// Whether this call fails; sets errno if so.
bool fails(std::string_view call) {
  const int64_t fault = fault_of(call);
  if (fault > 0) errno = static_cast<int>(fault);
  return fault > 0;
}

/// The same for a call that transfers `size` bytes, which may become 1.
bool fails(std::string_view call, size_t& size) {
  const int64_t fault = fault_of(call);
  if (fault == kShort) size = std::min<size_t>(size, 1);
  if (fault > 0) errno = static_cast<int>(fault);
  return fault > 0;
}

template <typename Function>
Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void* allocate(std::size_t size) {
  if (fails("new")) throw std::bad_alloc();
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
  return fails("read", size) ? -1 : ::syscall(SYS_read, descriptor, bytes, size);
}

extern "C" ssize_t pread(int descriptor, void* bytes, size_t size, off_t offset) {
  return fails("read", size) ? -1 : ::syscall(SYS_pread64, descriptor, bytes, size, offset);
}

extern "C" ssize_t write(int descriptor, const void* bytes, size_t size) {
  return fails("write", size) ? -1 : ::syscall(SYS_write, descriptor, bytes, size);
}

extern "C" ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  return fails("write", size) ? -1 : ::syscall(SYS_pwrite64, descriptor, bytes, size, offset);
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

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) noexcept {
  const int64_t fault = fault_of("thread");
  return fault > 0 ? static_cast<int>(fault)
                   : next(&pthread_create, "pthread_create")(thread, attributes, run, argument);
}

extern "C" int socket(int domain, int type, int protocol) noexcept {
  return fails("socket") ? -1 : static_cast<int>(::syscall(SYS_socket, domain, type, protocol));
}

extern "C" int bind(int descriptor, const sockaddr* address, socklen_t size) noexcept {
  return fails("bind") ? -1 : static_cast<int>(::syscall(SYS_bind, descriptor, address, size));
}

extern "C" int listen(int descriptor, int backlog) noexcept {
  return fails("listen") ? -1 : static_cast<int>(::syscall(SYS_listen, descriptor, backlog));
}

extern "C" int getsockname(int descriptor, sockaddr* address, socklen_t* size) noexcept {
  return fails("getsockname") ? -1 : static_cast<int>(::syscall(SYS_getsockname, descriptor, address, size));
}

extern "C" int getpeername(int descriptor, sockaddr* address, socklen_t* size) noexcept {
  return fails("getpeername") ? -1 : static_cast<int>(::syscall(SYS_getpeername, descriptor, address, size));
}

extern "C" int setsockopt(int descriptor, int level, int name, const void* value, socklen_t size) noexcept {
  if (fails("setsockopt")) return -1;
  return static_cast<int>(::syscall(SYS_setsockopt, descriptor, level, name, value, size));
}

extern "C" int accept(int descriptor, sockaddr* address, socklen_t* size) {
  return fails("accept") ? -1 : static_cast<int>(::syscall(SYS_accept, descriptor, address, size));
}

extern "C" ssize_t recv(int descriptor, void* bytes, size_t size, int flags) {
  return fails("recv", size) ? -1 : ::syscall(SYS_recvfrom, descriptor, bytes, size, flags, nullptr, nullptr);
}

extern "C" ssize_t send(int descriptor, const void* bytes, size_t size, int flags) {
  return fails("send", size) ? -1 : ::syscall(SYS_sendto, descriptor, bytes, size, flags, nullptr, 0);
}

extern "C" int shutdown(int descriptor, int how) noexcept {
  return fails("shutdown") ? -1 : static_cast<int>(::syscall(SYS_shutdown, descriptor, how));
}

extern "C" int ioctl(int descriptor, unsigned long request, ...) noexcept {
  va_list rest;
  va_start(rest, request);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  return fails("ioctl") ? -1 : static_cast<int>(::syscall(SYS_ioctl, descriptor, request, argument));
}

extern "C" int epoll_create1(int flags) noexcept {
  return fails("epoll_create") ? -1 : static_cast<int>(::syscall(SYS_epoll_create1, flags));
}

// Linux refuses to add a descriptor where memory runs out, but not to change or remove one.
extern "C" int epoll_ctl(int descriptor, int operation, int other, epoll_event* event) noexcept {
  if (operation == EPOLL_CTL_ADD && fails("epoll_add")) return -1;
  return static_cast<int>(::syscall(SYS_epoll_ctl, descriptor, operation, other, event));
}

extern "C" int epoll_wait(int descriptor, epoll_event* events, int count, int milliseconds) {
  if (fails("epoll_wait")) return -1;
  return static_cast<int>(::syscall(SYS_epoll_pwait, descriptor, events, count, milliseconds, nullptr, 0));
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
