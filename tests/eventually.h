// Waiting in tests for what another thread, a process or a peer does.
#pragma once

#include <chrono>
#include <thread>

namespace heed {

/// The deadline in seconds of whatever a test waits for. Machines at a load of ten meet it, with sanitizers,
/// too; a test goes on as soon as its condition holds.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr double kPatience = 1200;
#else
inline constexpr double kPatience = 120;
#endif

/// Polls until `holds()` is true; returns false if it is not within kPatience.
template <typename Condition>
bool eventually(const Condition& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(kPatience);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace heed
