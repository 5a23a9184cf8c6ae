// Packed sequences by time step, without padding.
//
// A recurrent network works on token t of all sequences at once. Sequences are taken from the longest to the
// shortest, so those that are longer than t are always the first ones, and a step is a matrix of as many rows
// as there are live sequences: nothing is computed for those that have ended. "In steps" means the rows of
// step 0, then those of step 1, and so on; "packed" means sequence by sequence, as everywhere else.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/tensor.h"

namespace heed::ops {

class TimeSteps {
 public:
  /// Sequence b has the packed rows [offsets[b], offsets[b + 1]); reversed, each begins at its last token.
  TimeSteps(const std::vector<int32_t>& offsets, bool reverse);

  /// Tokens of the longest sequence.
  int64_t count() const { return static_cast<int64_t>(begins_.size()) - 1; }
  /// The rows of step t are [begin(t), begin(t + 1)).
  int64_t begin(int64_t t) const { return begins_[t]; }
  int64_t live(int64_t t) const { return begins_[t + 1] - begins_[t]; }
  /// Tokens of all sequences.
  int64_t rows() const { return begins_.back(); }
  /// The packed row of each row in steps.
  const std::vector<int32_t>& packed_rows() const { return packed_rows_; }
  /// The sequence of each row of a step; sequences without tokens come last.
  const std::vector<int32_t>& sequences() const { return sequences_; }

 private:
  std::vector<int64_t> begins_{0};
  std::vector<int32_t> packed_rows_, sequences_;
};

/// Rows of `width` columns, `stride` elements apart.
template <typename T>
struct Rows {
  T* first = nullptr;
  int64_t stride = 0;
};

/// to[n] = from[numbers[n]]
template <typename T>
void gather_rows(const std::vector<int32_t>& numbers, int64_t width, Rows<const T> from, Rows<T> to) {
  for (size_t n = 0; n < numbers.size(); ++n) {
    const T* row = from.first + numbers[n] * from.stride;
    T* out = to.first + static_cast<int64_t>(n) * to.stride;
    for (int64_t c = 0; c < width; ++c) out[c] = row[c];
  }
}

/// to[numbers[n]] = from[n]
template <typename T>
void scatter_rows(const std::vector<int32_t>& numbers, int64_t width, Rows<const T> from, Rows<T> to) {
  for (size_t n = 0; n < numbers.size(); ++n) {
    const T* row = from.first + static_cast<int64_t>(n) * from.stride;
    T* out = to.first + numbers[n] * to.stride;
    for (int64_t c = 0; c < width; ++c) out[c] = row[c];
  }
}

/// to[numbers[n]] += from[n]
template <typename T>
void scatter_add_rows(const std::vector<int32_t>& numbers, int64_t width, Rows<const T> from, Rows<T> to) {
  for (size_t n = 0; n < numbers.size(); ++n) {
    const T* row = from.first + static_cast<int64_t>(n) * from.stride;
    T* out = to.first + numbers[n] * to.stride;
    for (int64_t c = 0; c < width; ++c) out[c] += row[c];
  }
}

}  // namespace heed::ops
