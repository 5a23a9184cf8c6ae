// Helpers that every op uses: checks of shapes, and the step from a tensor to a kernel for its type.
#pragma once

#include "base/check.h"
#include "heed/tensor.h"

namespace heed::ops {

/// Calls function(T{}) with T float or double, as the tensor's type says. Throws kShape for any other type.
template <typename Function>
void for_float_type(const char* op, const Tensor& tensor, const Function& function) {
  switch (tensor.dtype()) {
    case DType::kFloat32:
      return function(float{});
    case DType::kFloat64:
      return function(double{});
    default:
      fail(ErrorKind::kShape, "{}: float32 or float64 is needed, not {}", op, name_of(tensor.dtype()));
  }
}

inline void require_same_type(const char* op, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype()) {
    fail(ErrorKind::kShape, "{}: types differ: {} and {}", op, name_of(a.dtype()), name_of(b.dtype()));
  }
}

inline void require_same_shape(const char* op, const Tensor& a, const Tensor& b) {
  require_same_type(op, a, b);
  if (!(a.shape() == b.shape())) {
    fail(ErrorKind::kShape, "{}: shapes differ: {} and {}", op, a.shape().to_string(), b.shape().to_string());
  }
}

/// The number of rows when all axes but the last are taken as one.
inline int64_t rows_of(const Tensor& tensor) { return tensor.dim(-1) > 0 ? tensor.size() / tensor.dim(-1) : 0; }

}  // namespace heed::ops
