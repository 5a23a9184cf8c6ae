// A thread pool for parallel loops.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/stop.h"

namespace heed {

/// The assignment of items to threads is unspecified. Results do not depend on the number of threads if each
/// item writes only its own data.
class ThreadPool {
 public:
  /// `threads` includes the calling thread; 0 means one per processor. Threads are started on demand.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  /// Runs body(item) for every item in [0, count) and waits for all. After an exception, no further items
  /// start, and the first exception is rethrown when the running items have ended. Calls from several threads
  /// are serialized; a nested call from within a body runs on the calling thread alone. Items run in the
  /// caller's StopScope.
  void run(size_t count, const std::function<void(size_t)>& body);

 private:
  void work();
  void wake(size_t helpers);
  void take_items(std::unique_lock<std::mutex>& lock);

  const int threads_;
  std::vector<std::thread> workers_;  // modified by run() only
  std::mutex callers_;                // held by the caller of run() whose items are running
  std::mutex mutex_;                  // guards everything below
  std::condition_variable wake_, done_;
  const std::function<void(size_t)>* body_ = nullptr;
  Stop stop_;  // of the caller
  size_t next_ = 0, count_ = 0, active_ = 0;
  std::exception_ptr error_;
  bool stopping_ = false;
};

/// The number of processors that this process may use, at least 1.
int available_processors();

}  // namespace heed
