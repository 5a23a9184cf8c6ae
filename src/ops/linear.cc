#include "ops/linear.h"

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/packed_matrix.h"
#include "kernels/pointwise/elementwise.h"
#include "ops/dispatch.h"

namespace heed::ops {
namespace {

template <typename T>
void forward(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor& y) {
  const int64_t rows = rows_of(x), in = x.dim(-1), out = weight.dim(0);
  gemm({.transpose_b = true,
        .m = rows,
        .n = out,
        .k = in,
        .a = x.data<T>(),
        .a_stride = in,
        .b = weight.data<T>(),
        .b_stride = in,
        .bias = bias.defined() ? bias.data<T>() : nullptr,
        .c = y.data<T>(),
        .c_stride = out});
}

// dx = dy W;  dW += dy^T x;  db += sum over the rows of dy
template <typename T>
void backward(Tape& tape, const Tensor& dy, const Var& x, const Var& weight, const Var& bias) {
  const int64_t rows = rows_of(dy), in = x.dim(-1), out = weight.dim(0);
  if (x.wants_gradient()) {
    const bool begun = tape.gradient(x).defined();
    Tensor dx = tape.room(x);
    gemm({.m = rows,
          .n = in,
          .k = out,
          .a = dy.data<T>(),
          .a_stride = out,
          .b = weight.value().data<T>(),
          .b_stride = in,
          .accumulate = begun,
          .c = dx.data<T>(),
          .c_stride = in});
  }
  if (weight.wants_gradient()) {
    Tensor dw = tape.accumulator(weight);
    gemm({.transpose_a = true,
          .m = out,
          .n = in,
          .k = rows,
          .a = dy.data<T>(),
          .a_stride = out,
          .b = x.value().data<T>(),
          .b_stride = in,
          .accumulate = true,
          .c = dw.data<T>(),
          .c_stride = in});
  }
  if (bias.wants_gradient()) {
    Tensor db = tape.accumulator(bias);
    add_rows({.rows = rows, .columns = out, .x = dy.data<T>(), .x_stride = out, .sum = db.data<T>()});
  }
}

}  // namespace

Var linear(const Var& x, const Var& weight, const Var& bias) {
  require_same_type("linear", x.value(), weight.value());
  require_rows("linear", x.value());
  require_rows("linear", weight.value());
  if (weight.shape().rank() != 2 || x.dim(-1) != weight.dim(1)) {
    fail(ErrorKind::kShape, "linear: the last axis of x {} must be as long as the last of the weight {}",
         x.shape().to_string(), weight.shape().to_string());
  }
  if (bias.defined()) {
    require_same_type("linear", x.value(), bias.value());
    require_contiguous("linear", bias.value());
  }
  if (bias.defined() && !(bias.shape() == Shape{weight.dim(0)})) {
    fail(ErrorKind::kShape, "linear: a weight of {} needs a bias of ({}), not {}", weight.shape().to_string(),
         weight.dim(0), bias.shape().to_string());
  }
  Shape shape = x.shape();
  shape.set(-1, weight.dim(0));
  Tensor y = Tensor::empty(shape, x.dtype());
  Tape* tape = tape_of(x, weight, bias);
  for_float_type("linear", y, [&]<typename T>(T) { forward<T>(x.value(), weight.value(), bias.value(), y); });
  if (tape == nullptr) return y;
  return tape->record(y, [tape, x, weight, bias](const Tensor& dy) {
    for_float_type("linear", dy, [&]<typename T>(T) { backward<T>(*tape, dy, x, weight, bias); });
  });
}

Tensor linear(const Tensor& x, const PackedMatrix& weight) {
  require_rows("linear", x);
  if (x.dim(-1) != weight.in()) {
    fail(ErrorKind::kShape,
         "linear: the last axis of x {} must be as long as the last of the weight ({}, {})",
         x.shape().to_string(), weight.out(), weight.in());
  }
  Shape shape = x.shape();
  shape.set(-1, weight.out());
  Tensor y = Tensor::empty(shape);
  weight.multiply(x.data<float>(), rows_of(x), y.data<float>());
  return y;
}

}  // namespace heed::ops
