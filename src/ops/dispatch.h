// Helpers of all ops: checks of shapes, and dispatch on the dtype.
#pragma once

#include "base/check.h"
#include "heed/tensor.h"

namespace heed::ops {

/// Calls function(T{}) with T float or double, the type of the tensor. Throws kShape for any other type.
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

/// Throws kShape for views with gaps.
inline void require_contiguous(const char* op, const Tensor& tensor) {
  if (!tensor.is_contiguous()) {
    fail(ErrorKind::kShape, "{}: the view of {} has gaps between its elements; clone() it first", op,
         tensor.shape().to_string());
  }
}

/// For ops that work on rows: there must be a last axis.
inline void require_rows(const char* op, const Tensor& tensor) {
  if (tensor.rank() < 1) fail(ErrorKind::kShape, "{}: a tensor with at least one axis is needed", op);
  require_contiguous(op, tensor);
}

inline void require_same_shape(const char* op, const Tensor& a, const Tensor& b) {
  require_same_type(op, a, b);
  require_contiguous(op, a);
  require_contiguous(op, b);
  if (!(a.shape() == b.shape())) {
    fail(ErrorKind::kShape, "{}: shapes differ: {} and {}", op, a.shape().to_string(), b.shape().to_string());
  }
}

/// The product of all axes but the last.
inline int64_t rows_of(const Tensor& tensor) {
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < tensor.rank(); ++axis) rows *= tensor.dim(axis);
  return rows;
}

}  // namespace heed::ops
