// A list whose elements are made at their first use. Finding one that is there takes no lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace heed::nn {

template <typename T>
class FilledOnce {
 public:
  explicit FilledOnce(size_t size) : slots_(size), elements_(size) {}

  /// The element, which make() returns at its first use: once, also where several threads ask at a time.
  template <typename Make>
  const T& get(size_t index, Make&& make) {
    if (const T* ready = slots_[index].load(std::memory_order_acquire)) return *ready;
    const std::lock_guard lock(mutex_);
    if (elements_[index] == nullptr) {
      elements_[index] = std::make_unique<T>(std::forward<Make>(make)());
      slots_[index].store(elements_[index].get(), std::memory_order_release);
    }
    return *elements_[index];
  }

 private:
  std::vector<std::atomic<const T*>> slots_;
  std::vector<std::unique_ptr<T>> elements_;  // what slots point to
  std::mutex mutex_;                          // held while an element is made
};

}  // namespace heed::nn
