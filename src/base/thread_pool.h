// A fixed set of threads that share the items of a loop.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace heed {

/// Which thread runs which item is left open, so items must not depend on it: results are the same for any
/// number of threads as long as each item writes only what is its own.
class ThreadPool {
 public:
  /// `threads` counts the caller, which works too; 0 means one per processor. A thread is started when there
  /// is a first item for it.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  /// Runs body(item) for every item in [0, count) and returns when all are done. The first exception is
  /// thrown again here, after the items under way have ended; those not yet begun are dropped. Callers from
  /// several threads wait for each other; a call from within a body runs its items on the calling thread
  /// alone.
  void run(size_t count, const std::function<void(size_t)>& body);

 private:
  void work();
  void wake(size_t helpers);
  void take_items(std::unique_lock<std::mutex>& lock);

  const int threads_;
  std::vector<std::thread> workers_;  // changed by run() alone
  std::mutex callers_;                // held by the one caller of run() whose items are being worked on
  std::mutex mutex_;                  // guards everything below
  std::condition_variable wake_, done_;
  const std::function<void(size_t)>* body_ = nullptr;
  size_t next_ = 0, count_ = 0, active_ = 0;
  std::exception_ptr error_;
  bool stopping_ = false;
};

/// The number of processors that this process may use, at least 1.
int available_processors();

}  // namespace heed
