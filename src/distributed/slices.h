// Contiguous parts of an array, one for each rank.
#pragma once

#include <cstdint>
#include <vector>

namespace heed::distributed {

/// Elements [begin, end).
struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  bool contains(const Range& other) const { return begin <= other.begin && other.end <= end; }
  bool operator==(const Range&) const = default;
};

class Slices {
 public:
  /// Divides `elements` evenly over `ranks`. Slices begin at multiples of `block`; some may be empty.
  Slices(int64_t elements, int ranks, int64_t block = 1);

  int ranks() const { return static_cast<int>(bounds_.size()) - 1; }
  Range of(int rank) const { return {bounds_[rank], bounds_[rank + 1]}; }

 private:
  std::vector<int64_t> bounds_;  // where the slice of each rank begins, and the end
};

}  // namespace heed::distributed
