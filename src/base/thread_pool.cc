#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/blocked_signals.h"

namespace heed {
namespace {

// The pool whose item this thread is running.
thread_local const ThreadPool* working_for = nullptr;

}  // namespace

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads) : threads_(threads > 0 ? threads : available_processors()) {}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::take_items(std::unique_lock<std::mutex>& lock) {
  while (next_ < count_) {
    const size_t item = next_++;
    ++active_;
    lock.unlock();
    const ThreadPool* outer = std::exchange(working_for, this);
    std::exception_ptr error;
    try {
      const StopScope scope(stop_);
      (*body_)(item);
    } catch (...) {
      error = std::current_exception();
    }
    working_for = outer;
    lock.lock();
    --active_;
    if (error && !error_) {
      error_ = error;
      next_ = count_;  // drop the remaining items
    }
  }
  if (active_ == 0) done_.notify_all();
}

void ThreadPool::work() {
  // Signals are handled by the thread that created the pool.
  block_signals();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait(lock, [this] { return stopping_ || next_ < count_; });
    take_items(lock);
  }
}

/// Starts missing threads and wakes as many as there are items.
void ThreadPool::wake(size_t helpers) {
  try {
    while (workers_.size() < helpers) workers_.emplace_back([this] { work(); });
  } catch (const std::exception&) {
    // No more threads, or no memory for them: the existing ones do the work.
  }
  if (helpers >= workers_.size()) {
    wake_.notify_all();
  } else {
    for (size_t n = 0; n < helpers; ++n) wake_.notify_one();
  }
}

void ThreadPool::run(size_t count, const std::function<void(size_t)>& body) {
  if (working_for == this) {
    for (size_t item = 0; item < count; ++item) body(item);
    return;
  }
  const std::lock_guard only_caller(callers_);
  std::unique_lock lock(mutex_);
  body_ = &body;
  stop_ = StopScope::current();
  next_ = 0;
  count_ = count;
  if (count > 1) wake(std::min(count, static_cast<size_t>(threads_)) - 1);
  take_items(lock);
  done_.wait(lock, [this] { return active_ == 0 && next_ >= count_; });
  next_ = count_ = 0;
  body_ = nullptr;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace heed
