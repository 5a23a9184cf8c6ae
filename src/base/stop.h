// Work that takes long and may be told to end: by Ctrl-C, by SIGTERM, by another thread.
#pragma once

#include <atomic>
#include <exception>

namespace heed {

/// Thrown by work that was told to end. Not an Error: nothing is wrong.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped"; }
};

/// A view of a flag that somebody else sets; by default of none, which is never set.
class Stop {
 public:
  Stop() = default;
  explicit Stop(const std::atomic<bool>* flag) : flag_(flag) {}

  bool requested() const { return flag_ != nullptr && flag_->load(std::memory_order_relaxed); }
  /// Throws Stopped where the flag is set. Quick enough to be called for every line of a text.
  void check() const {
    if (requested()) throw Stopped();
  }

 private:
  const std::atomic<bool>* flag_ = nullptr;
};

}  // namespace heed
