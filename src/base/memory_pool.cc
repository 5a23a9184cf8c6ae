#include "base/memory_pool.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace heed {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{1} << 21;  // of x86-64, and of Arm with pages of 4 KiB
constexpr size_t kLargest = size_t{1} << 47;   // the address space of a process
constexpr int kClasses = 4 * 47;

// Every block begins with a header of one alignment unit.
struct Header {
  int size_class;
  size_t size;
  Header* next;  // free list of the size class; intrusive, so that freeing does not allocate
};

struct Pool {
  std::mutex mutex;
  Header* kept[kClasses] = {};
  PoolStatistics statistics;
};

Pool& pool() {
  static Pool* instance = new Pool;  // never destroyed: tensors in static storage may outlive it
  return *instance;
}

/// Class sizes are 2^n times 1, 1.25, 1.5 and 1.75.
int class_of(size_t size, size_t& rounded) {
  size = size < 64 ? 64 : size;
  const int exponent =
      static_cast<int>(std::bit_width(size - 1)) - 1;  // 2^exponent < size <= 2^(exponent + 1)
  const size_t base = size_t{1} << exponent;
  const size_t quarter = base / 4;
  const size_t steps = (size - base + quarter - 1) / quarter;  // 1 to 4
  rounded = base + steps * quarter;
  return 4 * exponent + static_cast<int>(steps) - 1;
}

/// From the system, or null. Large blocks ask for huge pages: a model's weights are touched once when they
/// are read, which in pages of 4 KiB takes longer than reading them.
void* system_allocate(size_t size) {
  if (size < 2 * kHugePage) return std::aligned_alloc(kAlignment, size);
  size = (size + kHugePage - 1) / kHugePage * kHugePage;
  void* address = std::aligned_alloc(kHugePage, size);
  if (address != nullptr) madvise(address, size, MADV_HUGEPAGE);  // where the system has none: no matter
  return address;
}

/// Returns a block to the caller, and tells the address sanitizer that exactly `size` bytes are accessible.
void* hand_out(Header* header, size_t size) {
  char* address = reinterpret_cast<char*>(header) + kAlignment;
  ASAN_UNPOISON_MEMORY_REGION(address, size);
  ASAN_POISON_MEMORY_REGION(address + size, header->size - size);
  return address;
}

}  // namespace

void* pool_allocate(size_t size) {
  if (size > kLargest) throw std::bad_alloc();
  size_t rounded = 0;
  const int size_class = class_of(size, rounded);
  Pool& p = pool();
  {
    const std::lock_guard lock(p.mutex);
    if (Header* header = p.kept[size_class]; header != nullptr) {
      p.kept[size_class] = header->next;
      return hand_out(header, size);
    }
  }
  const size_t bytes = (rounded + 2 * kAlignment - 1) / kAlignment * kAlignment;
  void* address = system_allocate(bytes);
  if (address == nullptr) {
    pool_trim();  // free blocks of other classes may suffice
    address = system_allocate(bytes);
  }
  if (address == nullptr) throw std::bad_alloc();
  {
    const std::lock_guard lock(p.mutex);
    ++p.statistics.system_allocations;
    p.statistics.bytes_from_system += rounded;
  }
  return hand_out(new (address) Header{size_class, rounded, nullptr}, size);
}

void pool_free(void* address) noexcept {
  if (address == nullptr) return;
  auto* header = reinterpret_cast<Header*>(static_cast<char*>(address) - kAlignment);
  ASAN_POISON_MEMORY_REGION(address, header->size);  // free
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  header->next = std::exchange(p.kept[header->size_class], header);
}

void pool_trim() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  for (Header*& kept : p.kept) {
    while (kept != nullptr) {
      Header* header = std::exchange(kept, kept->next);
      p.statistics.bytes_from_system -= header->size;
      ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<char*>(header) + kAlignment, header->size);
      std::free(header);
    }
  }
}

PoolStatistics pool_statistics() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  return p.statistics;
}

}  // namespace heed
