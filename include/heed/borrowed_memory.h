// Tensors over memory of other libraries, such as a NumPy array, without copying it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heed/tensor.h"

namespace heed {

/// Memory that belongs to somebody else.
struct BorrowedMemory {
  void* data = nullptr;  ///< the element with the indices 0, 0, ...
  DType dtype = DType::kFloat32;
  std::vector<int64_t> strides{};       ///< in elements, one per axis; empty: contiguous, row-major
  std::shared_ptr<const void> owner{};  ///< kept until the last tensor over this memory is gone
};

/// A tensor whose elements are in `memory`. Heed reads it and never writes to it. Throws kShape if shape and
/// strides differ in rank, and kUsage for elements without `data`.
Tensor borrow(const BorrowedMemory& memory, const Shape& shape);

}  // namespace heed
