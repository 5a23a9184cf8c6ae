// Functions that WASI's headers declare, and its library lacks.
#include <sys/mman.h>

extern "C" int madvise(void*, size_t, int) {
  return 0;
}

// A module never ends, so thread-local objects need no destruction.
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) {
  return 0;
}

// The tag of C++ exceptions, which compiler-rt defines in newer versions.
asm(".globl __cpp_exception\n.tagtype __cpp_exception i32\n__cpp_exception:\n");
