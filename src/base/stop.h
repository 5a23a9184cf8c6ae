// Cancellation of long work, by Ctrl-C, SIGTERM, another thread or a client that leaves: a flag, checked by
// whoever works, and the exception `Cancelled`.
#pragma once

#include <atomic>

#include "heed/cancel.h"

namespace heed {

/// A view of a cancellation flag; default-constructed, it is never set.
class Stop {
 public:
  Stop() = default;
  explicit Stop(const std::atomic<bool>* flag) : flag_(flag) {}

  bool requested() const { return flag_ != nullptr && flag_->load(std::memory_order_relaxed); }
  /// Throws Cancelled if the flag is set. Cheap enough to call for every line of a text.
  void check() const {
    if (requested()) throw Cancelled();
  }

 private:
  const std::atomic<bool>* flag_ = nullptr;
};

/// For work that is not told its Stop. In this scope, work on this thread, and of a ThreadPool for it, throws
/// Cancelled soon after `stop` is requested: forward passes, at the states between sub-layers; with a tape
/// also at each parameter, and backward passes at each operation; and the tokenizers of tokenizer.json, at
/// each step of the pipeline, each search of a regular expression, and each piece of the text. Scopes nest;
/// the innermost counts.
class StopScope {
 public:
  explicit StopScope(const Stop& stop);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  /// The `stop` of this thread's innermost scope; one that is never set without a scope.
  static Stop current();
  /// Throws Cancelled if that is requested.
  static void check();

 private:
  Stop outer_;
};

}  // namespace heed
