// Memory that is used again: after the first steps of a loop whose sizes repeat, the system is asked for
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace heed {

/// Memory of at least `size` bytes, aligned to 64. Sizes are rounded up to classes (at most a quarter more),
/// and each class keeps what was freed. Thread-safe. Throws std::bad_alloc where there is not so much.
void* pool_allocate(size_t size);
void pool_free(void* address) noexcept;

/// Gives back to the system what is kept and not in use.
void pool_trim();

struct PoolStatistics {
  uint64_t system_allocations = 0;  ///< how often the system was asked
  uint64_t bytes_from_system = 0;   ///< held now, in use or kept
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
