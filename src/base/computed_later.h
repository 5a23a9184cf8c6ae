// A value that is computed once it has been needed often.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

namespace heed {

/// For a value that takes as long to compute as it saves in many uses: the first `kUsesWithout` uses do
/// without it. Threads may share one.
template <class Value, int kUsesWithout>
class ComputedLater {
 public:
  /// Counts a use; whether it does without the value.
  bool is_early() const {
    return uses_.load(std::memory_order_relaxed) < kUsesWithout && uses_.fetch_add(1) < kUsesWithout;
  }
  /// What compute() returned when the value was first asked for.
  template <class Compute>
  const Value& value(Compute compute) const {
    std::call_once(once_, [&] { value_.emplace(compute()); });
    return *value_;
  }

 private:
  mutable std::atomic<int> uses_ = 0;
  mutable std::once_flag once_;
  mutable std::optional<Value> value_;
};

}  // namespace heed
