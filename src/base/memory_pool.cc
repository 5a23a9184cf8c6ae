#include "base/memory_pool.h"

#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace heed {
namespace {

constexpr size_t kAlignment = 64;
constexpr int kClasses = 4 * 48;

// Every block begins with its class, in a header of one alignment unit.
struct Header {
  int size_class;
  size_t size;
};

struct Pool {
  std::mutex mutex;
  std::vector<Header*> kept[kClasses];
  PoolStatistics statistics;
};

Pool& pool() {
  static Pool* instance = new Pool;  // never destroyed: tensors in static storage may outlive it
  return *instance;
}

/// Class sizes are 2^n times 1, 1.25, 1.5 and 1.75.
int class_of(size_t size, size_t& rounded) {
  size = size < 64 ? 64 : size;
  const int exponent = static_cast<int>(std::bit_width(size - 1)) - 1;  // 2^exponent < size <= 2^(exponent + 1)
  const size_t base = size_t{1} << exponent;
  const size_t quarter = base / 4;
  const size_t steps = (size - base + quarter - 1) / quarter;  // 1 to 4
  rounded = base + steps * quarter;
  return 4 * exponent + static_cast<int>(steps) - 1;
}

}  // namespace

void* pool_allocate(size_t size) {
  size_t rounded = 0;
  const int size_class = class_of(size, rounded);
  Pool& p = pool();
  {
    const std::lock_guard lock(p.mutex);
    auto& kept = p.kept[size_class];
    if (!kept.empty()) {
      Header* header = kept.back();
      kept.pop_back();
      return reinterpret_cast<char*>(header) + kAlignment;
    }
    ++p.statistics.system_allocations;
    p.statistics.bytes_from_system += rounded;
  }
  void* address = std::aligned_alloc(kAlignment, (rounded + 2 * kAlignment - 1) / kAlignment * kAlignment);
  if (address == nullptr) throw std::bad_alloc();
  return reinterpret_cast<char*>(new (address) Header{size_class, rounded}) + kAlignment;
}

void pool_free(void* address) noexcept {
  if (address == nullptr) return;
  auto* header = reinterpret_cast<Header*>(static_cast<char*>(address) - kAlignment);
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  p.kept[header->size_class].push_back(header);
}

void pool_trim() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  for (auto& kept : p.kept) {
    for (Header* header : kept) {
      p.statistics.bytes_from_system -= header->size;
      std::free(header);
    }
    kept.clear();
  }
}

PoolStatistics pool_statistics() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  return p.statistics;
}

}  // namespace heed
