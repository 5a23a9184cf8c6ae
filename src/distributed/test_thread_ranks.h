// Test helper: ranks that are threads of one process.
#pragma once

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "distributed/communicator.h"

namespace heed::distributed {

/// Runs `work` on so many ranks, and rethrows the first exception of one of them when all have ended.
class ThreadRanks {
 public:
  using Work = std::function<void(Communicator&)>;
  static void run(int size, const Work& work) {
    ThreadRanks ranks(size);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&ranks, &work, rank] { ranks.run_rank(rank, work); });
    for (std::thread& thread : threads) thread.join();
    if (ranks.error_) std::rethrow_exception(ranks.error_);
  }

 private:
  class Rank : public Communicator {
   public:
    Rank(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return all_.size_; }
    void give_up() override { all_.give_up(); }
    void exchange(const std::vector<Outgoing>& outgoing, const std::vector<Incoming>& incoming) override {
      for (const Outgoing& each : outgoing) all_.send(rank_, each);
      for (const Incoming& each : incoming) all_.receive(rank_, each);
    }

   private:
    ThreadRanks& all_;
    int rank_;
  };

  explicit ThreadRanks(int size) : size_(size) {}

  void run_rank(int rank, const Work& work) {
    Rank communicator(*this, rank);
    try {
      work(communicator);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      given_up_ = true;
      arrived_.notify_all();
    }
  }
  void give_up() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    arrived_.notify_all();
  }
  void send(int from, const Outgoing& message) {
    if (message.size == 0) return;
    const std::lock_guard lock(mutex_);
    messages_[{from, message.to}].emplace_back(static_cast<const char*>(message.data), message.size);
    arrived_.notify_all();
  }
  void receive(int to, const Incoming& message) {
    if (message.size == 0) return;
    std::unique_lock lock(mutex_);
    auto& waiting = messages_[{message.from, to}];
    arrived_.wait(lock, [&] { return given_up_ || !waiting.empty(); });
    if (waiting.empty()) throw std::runtime_error("another rank has given up");
    if (waiting.front().size() != message.size) throw std::logic_error("a message of another size");
    std::memcpy(message.data, waiting.front().data(), message.size);
    waiting.pop_front();
  }

  const int size_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<int, int>, std::deque<std::string>> messages_;  // by sender and receiver
  std::exception_ptr error_;
  bool given_up_ = false;
};

}  // namespace heed::distributed
