// Sums over the rows of a matrix. Included once for each instruction set.

#if defined(HEED_KERNELS_COLUMN_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_COLUMN_SUMS_INL_H_
#undef HEED_KERNELS_COLUMN_SUMS_INL_H_
#else
#define HEED_KERNELS_COLUMN_SUMS_INL_H_
#endif

#include <cstdint>
#include <utility>
#include <vector>

#include "base/memory_pool.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// A sum for each column, over rows that the caller adds to block(). Blocks of 256 rows are summed in T, and
/// the blocks in double: the rounding error does not grow with the number of rows.
template <typename T>
class ColumnSums {
 public:
  explicit ColumnSums(int64_t columns)
      : block_(static_cast<size_t>(columns), T{0}), sums_(static_cast<size_t>(columns), 0.0) {}

  T* block() { return block_.data(); }
  /// After each row that was added to block(), of which the pointer stays the same.
  void end_row() {
    constexpr int kRows = 256;
    if (++rows_ == kRows) end_block();
  }
  /// out[c] = scale * the sum of column c. Begins again.
  void write(double scale, T* out) {
    end_block();
    for (size_t c = 0; c < sums_.size(); ++c) out[c] = static_cast<T>(scale * std::exchange(sums_[c], 0.0));
  }
  /// out[c] += the sum of column c. Begins again.
  void add_to(T* out) {
    end_block();
    for (size_t c = 0; c < sums_.size(); ++c) out[c] += static_cast<T>(std::exchange(sums_[c], 0.0));
  }

 private:
  void end_block() {
    for (size_t c = 0; c < sums_.size(); ++c) sums_[c] += static_cast<double>(std::exchange(block_[c], T{0}));
    rows_ = 0;
  }

  std::vector<T, PoolAllocator<T>> block_;
  std::vector<double, PoolAllocator<double>> sums_;
  int rows_ = 0;  // in the block
};

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
