// Requests a minute for each client: a token bucket for each address or key.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <unordered_map>

namespace heed::serve {

/// Thread-safe. A client may send a minute's requests at once, and gets new ones evenly.
class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;
  /// 0: no limit.
  explicit RateLimit(double per_minute) : per_minute_(per_minute) {}

  /// Counts a request; 0 if the client may send it, otherwise the seconds until it may.
  double take(const std::string& client, Clock::time_point now = Clock::now());
  size_t clients() const;

 private:
  struct Bucket {
    double left = 0;
    Clock::time_point at = {};
  };
  void forget_full(Clock::time_point now);

  double per_minute_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
  size_t sweep_at_ = 1024;
};

/// What is counted as one client: an IPv4 address, or the 64-bit network of an IPv6 address, since a client
/// has all addresses of one.
std::string client_of_address(const std::string& address);

}  // namespace heed::serve
