// A flag with which another thread stops a long computation.
#pragma once

#include <atomic>

namespace heed {

/// Whether there is a flag and it is set.
inline bool is_cancelled(const std::atomic<bool>* flag) {
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

}  // namespace heed
