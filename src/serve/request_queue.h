// A bounded queue of requests with a thread pool, which clients share fairly.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace heed::serve {

/// Threads here mostly wait for the search, so there are more of them than processors. A client uses at most
/// three quarters of those that other clients leave. Of the clients that wait, the one with the fewest
/// running requests is next, and of several of these the one that has waited longest since its last request.
class RequestQueue {
 public:
  struct Request {
    std::string client;          ///< which this is counted for
    std::function<void()> work;  ///< must not throw
    /// Called instead of `work`, in push(), if another request takes the place of this one. Must not throw.
    std::function<void()> refuse = {};
    /// Set when nobody waits for this any more; null: never.
    std::shared_ptr<const std::atomic<bool>> gone = {};
  };

  /// `at_once`: requests of a client that run at the same time while it is alone; more of several clients.
  /// Throws std::system_error if the system starts no further thread.
  RequestQueue(size_t at_once, size_t max_waiting);
  /// Drops waiting work and waits for running work.
  ~RequestQueue();
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  /// Returns at once, false if the queue is full. A full queue makes room by dropping requests whose clients
  /// are gone, or else the last one of the client that has most, if it has more than this client.
  bool push(Request request);
  /// Drops waiting work and waits for running work, at most this many seconds; false if some still runs.
  bool stop(double seconds);
  size_t waiting() const;
  size_t running() const;

 private:
  using Requests = std::list<Request>;  // which moves them from one to another without taking memory
  struct Client {
    Requests waiting = {};
    size_t running = 0;
    uint64_t last_start = 0;
  };

  void end_threads();
  void run();
  bool may_start(const Client& client) const;
  void start_first(Client& client, Requests& from);
  void start_waiting();
  Requests make_room(const Client& client);
  void forget_idle();

  const size_t max_waiting_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable wake_, idle_;
  std::map<std::string, Client> clients_;  // those with requests
  Requests started_;                       // that threads will take: there is an idle one for each
  size_t waiting_ = 0;
  size_t running_ = 0;  // with those in `started_`
  size_t active_ = 0;   // without
  uint64_t starts_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace heed::serve
