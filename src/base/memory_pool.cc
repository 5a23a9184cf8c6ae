#include "base/memory_pool.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else  // a compiler without sanitizers
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace heed {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{1} << 21;               // of x86-64, and of Arm with pages of 4 KiB
constexpr int kAddressBits = sizeof(void*) == 8 ? 47 : 31;  // of a process
constexpr size_t kLargest = size_t{1} << kAddressBits;
constexpr int kClasses = 4 * kAddressBits;
// Blocks of these sizes are cut from regions, so that they share huge pages: a model's weights are touched
// once when they are read or packed, which in pages of 4 KiB takes as long as doing it.
constexpr size_t kSmallestOfRegion = size_t{1} << 17, kLargestOfRegion = 2 * kHugePage;
constexpr size_t kRegion = size_t{1} << 25;

struct Region {
  char* address;
  size_t taken = 0;        // by blocks, from the beginning on
  int in_use = 0;          // blocks
  Region* next = nullptr;  // while it is freed
};

// Every block begins with a header of one alignment unit.
struct Header {
  int size_class;
  size_t size;
  Header* next;    // free list of the size class; intrusive, so that freeing does not allocate
  Region* region;  // null: allocated by itself
};

struct Pool {
  std::mutex mutex;
  Header* kept[kClasses] = {};
  Region* region = nullptr;  // from which blocks are cut
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

/// From the system, or null. Large blocks ask for huge pages.
void* system_allocate(size_t size) {
  if (size < kLargestOfRegion) return std::aligned_alloc(kAlignment, size);
  size = (size + kHugePage - 1) / kHugePage * kHugePage;
  void* address = std::aligned_alloc(kHugePage, size);
  if (address != nullptr) madvise(address, size, MADV_HUGEPAGE);  // where the system has none: no matter
  return address;
}

struct Allocation {
  void* address;  // null: there is no memory
  Region* region;
};

/// Memory for a new block, from a region or from the system. The pool is locked.
Allocation allocate(Pool& p, size_t size) {
  if (size < kSmallestOfRegion || size >= kLargestOfRegion) return {system_allocate(size), nullptr};
  if (p.region == nullptr || kRegion - p.region->taken < size) {
    void* address = system_allocate(kRegion);
    if (address == nullptr) return {nullptr, nullptr};
    ASAN_POISON_MEMORY_REGION(address, kRegion);
    p.region = new Region{static_cast<char*>(address)};
  }
  char* address = p.region->address + p.region->taken;
  p.region->taken += size;
  ASAN_UNPOISON_MEMORY_REGION(address, size);
  return {address, p.region};
}

/// Returns the free blocks to the system, but for those of regions with other blocks in use. The pool is
/// locked.
void trim(Pool& p) {
  Region* unused = nullptr;
  for (Header*& list : p.kept) {
    Header* free = std::exchange(list, nullptr);
    while (free != nullptr) {
      Header* header = std::exchange(free, free->next);
      if (header->region != nullptr && header->region->in_use > 0) {
        header->next = std::exchange(list, header);
        continue;
      }
      p.statistics.bytes_from_system -= header->size;
      if (header->region != nullptr) {
        if (header->region->taken > 0) {  // its first block here
          header->region->taken = 0;
          header->region->next = std::exchange(unused, header->region);
        }
        continue;
      }
      ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<char*>(header) + kAlignment, header->size);
      std::free(header);
    }
  }
  while (unused != nullptr) {
    Region* region = std::exchange(unused, unused->next);
    if (p.region == region) p.region = nullptr;
    ASAN_UNPOISON_MEMORY_REGION(region->address, kRegion);
    std::free(region->address);
    delete region;
  }
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
  const std::lock_guard lock(p.mutex);
  Header* header = p.kept[size_class];
  if (header != nullptr) {
    p.kept[size_class] = header->next;
  } else {
    const size_t bytes = (rounded + 2 * kAlignment - 1) / kAlignment * kAlignment;
    Allocation block = allocate(p, bytes);
    if (block.address == nullptr) {
      trim(p);  // free blocks of other classes may suffice
      block = allocate(p, bytes);
    }
    if (block.address == nullptr) throw std::bad_alloc();
    ++p.statistics.system_allocations;
    p.statistics.bytes_from_system += rounded;
    header = new (block.address) Header{size_class, rounded, nullptr, block.region};
  }
  if (header->region != nullptr) ++header->region->in_use;
  p.statistics.bytes_in_use += header->size;
  return hand_out(header, size);
}

void pool_free(void* address) noexcept {
  if (address == nullptr) return;
  auto* header = reinterpret_cast<Header*>(static_cast<char*>(address) - kAlignment);
  ASAN_POISON_MEMORY_REGION(address, header->size);  // free
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  if (header->region != nullptr) --header->region->in_use;
  p.statistics.bytes_in_use -= header->size;
  header->next = std::exchange(p.kept[header->size_class], header);
}

void pool_trim() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  trim(p);
}

PoolStatistics pool_statistics() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  return p.statistics;
}

}  // namespace heed
