// Blocks signals in worker threads, so that only the main thread, or one that waits for them, handles them.
#pragma once

#include <pthread.h>

#include <csignal>

namespace heed {

/// Blocks all signals in this thread, and in those that it starts, until its end. Returns the previous mask.
inline sigset_t block_signals() {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  return before;
}

/// Blocks all signals in this thread for its lifetime. Threads started meanwhile inherit the blocked mask.
class BlockedSignals {
 public:
  BlockedSignals() : before_(block_signals()) {}
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace heed
