// Cancellation of long-running work, by Ctrl-C, SIGTERM or another thread.
#pragma once

#include <atomic>
#include <exception>

namespace heed {

/// Thrown by cancelled work. Not an Error.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped"; }
};

/// A view of a cancellation flag; default-constructed, it is never set.
class Stop {
 public:
  Stop() = default;
  explicit Stop(const std::atomic<bool>* flag) : flag_(flag) {}

  bool requested() const { return flag_ != nullptr && flag_->load(std::memory_order_relaxed); }
  /// Throws Stopped if the flag is set. Cheap enough to call for every line of a text.
  void check() const {
    if (requested()) throw Stopped();
  }

 private:
  const std::atomic<bool>* flag_ = nullptr;
};

}  // namespace heed
