// Allocates ranges of rows in growing tensors, for sentences that are added and released.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace heed::models {

/// A free-list allocator of row ranges.
class RowRanges {
 public:
  /// Allocates `count` rows; returns the first.
  int32_t take(int32_t count) {
    for (auto& [begin, free] : free_) {
      if (free < count) continue;
      const int32_t taken = begin;
      begin += count;
      free -= count;
      return taken;
    }
    size_ += count;
    return size_ - count;
  }
  void give_back(int32_t begin, int32_t count) {
    if (count == 0) return;
    free_.emplace_back(begin, count);
    std::sort(free_.begin(), free_.end());
    std::vector<std::pair<int32_t, int32_t>> joined;
    for (const auto& range : free_) {
      if (range.second == 0) continue;
      if (!joined.empty() && joined.back().first + joined.back().second == range.first) {
        joined.back().second += range.second;
      } else {
        joined.push_back(range);
      }
    }
    free_ = std::move(joined);
  }
  /// The required number of rows.
  int32_t size() const { return size_; }

 private:
  std::vector<std::pair<int32_t, int32_t>> free_;  // begin and count, in order
  int32_t size_ = 0;
};

}  // namespace heed::models
