#include "serve/http/rate_limit.h"

#include <arpa/inet.h>

#include <algorithm>

namespace heed::serve {

double RateLimit::take(const std::string& client, Clock::time_point now) {
  if (per_minute_ <= 0) return 0;
  const std::lock_guard lock(mutex_);
  if (buckets_.size() >= sweep_at_) forget_full(now);
  Bucket& bucket = buckets_.try_emplace(client, Bucket{capacity(), now}).first->second;
  bucket = {refilled(bucket, now), now};
  if (bucket.left < 1) return (1 - bucket.left) * 60 / per_minute_;
  bucket.left -= 1;
  return 0;
}

void RateLimit::give_back(const std::string& client) {
  const std::lock_guard lock(mutex_);
  const auto found = buckets_.find(client);
  if (found != buckets_.end()) found->second.left = std::min(capacity(), found->second.left + 1);
}

double RateLimit::refilled(const Bucket& bucket, Clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - bucket.at).count();
  return std::min(capacity(), bucket.left + seconds * per_minute_ / 60);
}

size_t RateLimit::clients() const {
  const std::lock_guard lock(mutex_);
  return buckets_.size();
}

/// Removes full buckets, which are the same as new ones.
void RateLimit::forget_full(Clock::time_point now) {
  std::erase_if(buckets_, [&](const auto& entry) { return refilled(entry.second, now) >= capacity(); });
  sweep_at_ = std::max<size_t>(1024, 2 * buckets_.size());
}

std::string client_of_address(const std::string& address) {
  in6_addr bytes{};
  if (::inet_pton(AF_INET6, address.c_str(), &bytes) != 1) return address;
  if (IN6_IS_ADDR_V4MAPPED(&bytes)) return address;
  std::fill(std::begin(bytes.s6_addr) + 8, std::end(bytes.s6_addr), uint8_t{0});
  char text[INET6_ADDRSTRLEN];
  ::inet_ntop(AF_INET6, &bytes, text, sizeof text);
  return std::string(text) + "/64";
}

}  // namespace heed::serve
