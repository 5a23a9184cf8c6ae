// The three matrix products of y = x W^T and of its derivatives. x is (rows, in), W (out, in), y (rows, out),
// all row-major and contiguous.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace heed::ops {

struct LinearShape {
  int64_t rows = 0, in = 0, out = 0;
  MatmulPrecision precision = MatmulPrecision::kHighest;
};

/// y = x W^T, and + b in each row where a bias (out) is given.
template <typename T>
void multiply_weight(const LinearShape& shape, const T* x, const T* weight, T* y, const T* bias = nullptr) {
  gemm({.transpose_b = true,
        .m = shape.rows,
        .n = shape.out,
        .k = shape.in,
        .a = x,
        .a_stride = shape.in,
        .b = weight,
        .b_stride = shape.in,
        .bias = bias,
        .c = y,
        .c_stride = shape.out,
        .precision = shape.precision});
}

/// dx = dy W, or dx += dy W.
template <typename T>
void input_gradient(const LinearShape& shape, const T* dy, const T* weight, T* dx, bool accumulate) {
  gemm({.m = shape.rows,
        .n = shape.in,
        .k = shape.out,
        .a = dy,
        .a_stride = shape.out,
        .b = weight,
        .b_stride = shape.in,
        .accumulate = accumulate,
        .c = dx,
        .c_stride = shape.in,
        .precision = shape.precision});
}

/// dW += dy^T x
template <typename T>
void add_weight_gradient(const LinearShape& shape, const T* dy, const T* x, T* dweight) {
  gemm({.transpose_a = true,
        .m = shape.out,
        .n = shape.in,
        .k = shape.rows,
        .a = dy,
        .a_stride = shape.out,
        .b = x,
        .b_stride = shape.in,
        .accumulate = true,
        .c = dweight,
        .c_stride = shape.in,
        .precision = shape.precision});
}

}  // namespace heed::ops
