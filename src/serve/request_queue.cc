#include "serve/request_queue.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/blocked_signals.h"

namespace heed::serve {
namespace {

// A client's part of the threads that others leave.
constexpr size_t kPart = 3, kOf = 4;

}  // namespace

RequestQueue::RequestQueue(size_t at_once, size_t max_waiting) : max_waiting_(max_waiting) {
  const size_t threads = (at_once * kOf + kPart - 1) / kPart;
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
  return idle_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return active_ == 0; });
}

RequestQueue::~RequestQueue() {
  end_threads();
}

void RequestQueue::end_threads() {
  stop(0);
  for (std::thread& thread : threads_) thread.join();
}

bool RequestQueue::push(Request request) {
  Requests dropped;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    Requests added;
    added.push_back(std::move(request));
    Client& client = clients_[added.front().client];
    if (may_start(client)) {
      start_first(client, added);
    } else {
      if (waiting_ >= max_waiting_) dropped = make_room(client);
      if (waiting_ < max_waiting_) {
        client.waiting.splice(client.waiting.end(), added);
        ++waiting_;
      }
      forget_idle();
    }
    if (!added.empty()) return false;
  }
  for (const Request& each : dropped) {
    if (each.refuse) each.refuse();
  }
  return true;
}

size_t RequestQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

size_t RequestQueue::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

bool RequestQueue::may_start(const Client& client) const {
  const size_t left = threads_.size() - (running_ - client.running);
  return running_ < threads_.size() && client.running < std::max<size_t>(1, left * kPart / kOf);
}

/// The first request of `from`.
void RequestQueue::start_first(Client& client, Requests& from) {
  started_.splice(started_.end(), from, from.begin());
  ++client.running;
  ++running_;
  client.last_start = ++starts_;
  wake_.notify_one();
}

/// Starts as many waiting requests as may run.
void RequestQueue::start_waiting() {
  while (true) {
    Client* next = nullptr;
    for (auto& [name, client] : clients_) {
      if (client.waiting.empty() || !may_start(client)) continue;
      if (next == nullptr ||
          std::tie(client.running, client.last_start) < std::tie(next->running, next->last_start)) {
        next = &client;
      }
    }
    if (next == nullptr) return;
    start_first(*next, next->waiting);
    --waiting_;
  }
}

/// The requests that leave a full queue for one of `client`; none if there is no room for it.
RequestQueue::Requests RequestQueue::make_room(const Client& client) {
  Requests dropped;
  Client* most = nullptr;
  for (auto& [name, each] : clients_) {
    for (auto next = each.waiting.begin(); next != each.waiting.end();) {
      const auto request = next++;
      if (request->gone && *request->gone) dropped.splice(dropped.end(), each.waiting, request);
    }
    if (most == nullptr || each.waiting.size() > most->waiting.size()) most = &each;
  }
  if (dropped.empty() && most->waiting.size() > client.waiting.size() + 1) {
    dropped.splice(dropped.end(), most->waiting, std::prev(most->waiting.end()));
  }
  waiting_ -= dropped.size();
  return dropped;
}

void RequestQueue::forget_idle() {
  std::erase_if(clients_,
                [](const auto& entry) { return entry.second.running == 0 && entry.second.waiting.empty(); });
}

void RequestQueue::run() {
  block_signals();
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || !started_.empty(); });
    if (stopping_) return;
    Requests taken;
    taken.splice(taken.end(), started_, started_.begin());
    ++active_;
    lock.unlock();
    taken.front().work();
    const std::string client = std::move(taken.front().client);
    taken.clear();  // destroyed without holding the lock
    lock.lock();
    --active_;
    --running_;
    --clients_.find(client)->second.running;
    start_waiting();
    forget_idle();
    if (active_ == 0) idle_.notify_all();
  }
}

}  // namespace heed::serve
