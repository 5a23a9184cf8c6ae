// Rate limit per client: a token bucket per address or key.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <unordered_map>

namespace heed::serve {

/// Thread-safe. A client can send the requests of a minute in one burst; the bucket is refilled continuously.
class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;
  /// 0: no limit.
  explicit RateLimit(double per_minute) : per_minute_(per_minute) {}

  /// Counts a request; 0 if the client may send it, otherwise the seconds until it may.
  double take(const std::string& client, Clock::time_point now = Clock::now());
  /// Takes back the counting of a request.
  void give_back(const std::string& client);
  size_t clients() const;

 private:
  struct Bucket {
    double left = 0;
    Clock::time_point at = {};
  };
  void forget_full(Clock::time_point now);
  /// Of a full bucket.
  double capacity() const { return std::max(per_minute_, 1.0); }
  double refilled(const Bucket& bucket, Clock::time_point now) const;

  double per_minute_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
  size_t sweep_at_ = 1024;
};

/// The identity of a client: its IPv4 address, or the /64 network of its IPv6 address, which usually belongs
/// to one client.
std::string client_of_address(const std::string& address);

}  // namespace heed::serve
