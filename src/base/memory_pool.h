// A caching memory allocator: a loop with repeating sizes allocates from the system only in its first
// iterations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace heed {

/// Allocates at least `size` bytes, aligned to 64. Sizes are rounded up to size classes (at most a quarter
/// more), and each class has a free list. Thread-safe. Throws std::bad_alloc.
void* pool_allocate(size_t size);
void pool_free(void* address) noexcept;

/// Returns free blocks to the system: all but those that share huge pages with blocks in use.
void pool_trim();

struct PoolStatistics {
  uint64_t system_allocations = 0;  ///< number of blocks that no free list had
  uint64_t bytes_from_system = 0;   ///< bytes held, used or free
  uint64_t bytes_in_use = 0;
};
PoolStatistics pool_statistics();

/// For std containers and allocate_shared.
template <typename T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <typename U>
  PoolAllocator(const PoolAllocator<U>&) {}  // NOLINT(google-explicit-constructor): allocators convert
  T* allocate(size_t count) {
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(pool_allocate(count * sizeof(T)));
  }
  void deallocate(T* address, size_t) noexcept { pool_free(address); }
  template <typename U>
  bool operator==(const PoolAllocator<U>&) const {
    return true;
  }
};

}  // namespace heed
