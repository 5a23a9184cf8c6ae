// Transposes matrices that files hold as (in, out).
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/tensor.h"

namespace heed::models {

/// Columns [begin, begin + count) of a matrix of shape (rows, columns) as rows: `to` is (count, rows).
template <typename T>
void transpose_columns(const T* matrix, const Shape& shape, int64_t begin, int64_t count, T* to) {
  constexpr int64_t kTogether = 16;  // a cache line of floats
  const int64_t rows = shape[0], columns = shape[1];
  for (int64_t first = 0; first < count; first += kTogether) {
    const int64_t last = std::min(first + kTogether, count);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t n = first; n < last; ++n) to[n * rows + row] = matrix[row * columns + begin + n];
    }
  }
}

}  // namespace heed::models
