// Included before every file of the folders where Heed is compiled to WebAssembly: the functions of POSIX
// that WASI's C library lacks. A module has one processor, no signals and no locks on files.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2
static inline int heed_no_signals(void) {
  return 0;
}
#define sigfillset(set) heed_no_signals()
#define pthread_sigmask(how, set, before) heed_no_signals()

struct cpu_set_t {  // which the library only declares
  unsigned long bits;
};
#ifndef __cplusplus
typedef struct cpu_set_t cpu_set_t;
#endif
#define CPU_ZERO(set) ((set)->bits = 0)
#define CPU_COUNT(set) ((int)(set)->bits)
static inline int sched_getaffinity(int process, size_t size, cpu_set_t* set) {
  (void)process;
  (void)size;
  set->bits = 1;
  return 0;
}

#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
static inline int flock(int descriptor, int operation) {
  (void)descriptor;
  (void)operation;
  return 0;
}

/// The library's fcntl() fails with EINVAL: a descriptor cannot be duplicated.
#define F_DUPFD_CLOEXEC 1030

/// As on systems whose kernel lacks it: libc++ then reads and writes.
static inline ssize_t copy_file_range(int from, off_t* from_offset, int to, off_t* to_offset, size_t size,
                                      unsigned flags) {
  (void)from;
  (void)from_offset;
  (void)to;
  (void)to_offset;
  (void)size;
  (void)flags;
  errno = ENOSYS;
  return -1;
}

#ifdef __cplusplus
}
#endif
