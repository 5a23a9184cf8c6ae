// A bounded queue of requests with a thread pool.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace heed::serve {

/// Threads here mostly wait for the search, so there are more of them than processors.
class RequestQueue {
 public:
  /// Throws std::system_error if the system starts no further thread.
  RequestQueue(size_t threads, size_t max_waiting);
  /// Drops waiting work and waits for running work.
  ~RequestQueue();
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  /// Returns at once, false if the queue is full. `work` must not throw.
  bool push(std::function<void()> work);
  /// Drops waiting work and waits for running work, at most this many seconds; false if some still runs.
  bool stop(double seconds);
  size_t waiting() const;
  size_t running() const;

 private:
  void end_threads();
  void run();

  const size_t max_waiting_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable wake_, idle_;
  std::deque<std::function<void()>> work_;
  size_t running_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace heed::serve
