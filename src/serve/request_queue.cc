#include "serve/request_queue.h"

#include <chrono>
#include <utility>

#include "base/blocked_signals.h"

namespace heed::serve {

RequestQueue::RequestQueue(size_t threads, size_t max_waiting) : max_waiting_(max_waiting) {
  try {
    for (size_t n = 0; n < threads; ++n) threads_.emplace_back([this] { run(); });
  } catch (...) {  // the system has no further thread
    end_threads();
    throw;
  }
}

bool RequestQueue::stop(double seconds) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
  return idle_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return running_ == 0; });
}

RequestQueue::~RequestQueue() {
  end_threads();
}

void RequestQueue::end_threads() {
  stop(0);
  for (std::thread& thread : threads_) thread.join();
}

bool RequestQueue::push(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    // Requests for idle threads do not count as waiting.
    if (stopping_ || work_.size() >= max_waiting_ + threads_.size() - running_) return false;
    work_.push_back(std::move(work));
  }
  wake_.notify_one();
  return true;
}

size_t RequestQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return work_.size();
}

size_t RequestQueue::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

void RequestQueue::run() {
  block_signals();
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || !work_.empty(); });
    if (stopping_) return;
    std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    ++running_;
    lock.unlock();
    work();
    work = {};  // destroyed without holding the lock
    lock.lock();
    if (--running_ == 0) idle_.notify_all();
  }
}

}  // namespace heed::serve
