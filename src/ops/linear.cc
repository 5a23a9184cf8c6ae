#include "ops/linear.h"

#include <algorithm>

#include "kernels/gemm/packed/packed_matrix.h"
#include "kernels/pointwise/elementwise.h"
#include "ops/dispatch.h"
#include "ops/linear_products.h"

namespace heed::ops {
namespace {

// dx = dy W;  dW += dy^T x;  db += sum over the rows of dy
template <typename T>
void backward(const LinearShape& shape, const Tensor& dy, const Var& x, const Var& weight, const Var& bias) {
  Tape& tape = *tape_of(x, weight, bias);
  if (x.wants_gradient()) {
    const bool begun = tape.gradient(x).defined();
    Tensor dx = tape.gradient_buffer(x);
    input_gradient(shape, dy.data<T>(), weight.value().data<T>(), dx.data<T>(), begun);
  }
  if (weight.wants_gradient()) {
    Tensor dw = tape.accumulator(weight);
    add_weight_gradient(shape, dy.data<T>(), x.value().data<T>(), dw.data<T>());
  }
  if (bias.wants_gradient()) {
    Tensor db = tape.accumulator(bias);
    add_rows({.rows = shape.rows,
              .columns = shape.out,
              .x = dy.data<T>(),
              .x_stride = shape.out,
              .sum = db.data<T>()});
  }
}

}  // namespace

Var linear(const Var& x, const Var& weight, const Var& bias, MatmulPrecision precision) {
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
  const LinearShape product{rows_of(x.value()), x.dim(-1), weight.dim(0), precision};
  for_float_type("linear", y, [&]<typename T>(T) {
    multiply_weight(product, x.value().data<T>(), weight.value().data<T>(), y.data<T>(),
                    bias.defined() ? bias.value().data<T>() : nullptr);
  });
  if (tape == nullptr) return y;
  return tape->record(y, [product, x, weight, bias](const Tensor& dy) {
    for_float_type("linear", dy, [&]<typename T>(T) { backward<T>(product, dy, x, weight, bias); });
  });
}

namespace {

void require_packed(const char* op, const Tensor& x, const PackedMatrix& weight) {
  require_rows(op, x);
  if (x.dim(-1) == weight.in()) return;
  fail(ErrorKind::kShape, "{}: the last axis of x {} must be as long as the last of the weight ({}, {})", op,
       x.shape().to_string(), weight.out(), weight.in());
}

}  // namespace

Tensor linear(const Tensor& x, const PackedMatrix& weight) {
  require_packed("linear", x, weight);
  Shape shape = x.shape();
  shape.set(-1, weight.out());
  Tensor y = Tensor::empty(shape);
  weight.multiply(x.data<float>(), rows_of(x), y.data<float>());
  return y;
}

Var linear(const Var& x, const PackedMatrix& weight, const PackedMatrix& transposed) {
  Tensor y = linear(x.value(), weight);
  if (!x.wants_gradient()) return y;
  return x.tape()->record(
      y, [x, transposed](const Tensor& dy) { x.tape()->add_gradient(x, linear(dy, transposed)); });
}

Tensor feed_forward(const Tensor& x, const PackedMatrix& first, Activation function,
                    const PackedMatrix& second) {
  require_packed("feed_forward", x, first);
  if (second.in() != first.out()) {
    fail(ErrorKind::kShape, "feed_forward: the second layer has {} inputs and the first one {} outputs",
         second.in(), first.out());
  }
  // Whole blocks of rows of all kernels. Beside them, L2 holds rows of x and y and weights.
  constexpr int64_t kInnerBytes = 1200 << 10, kRowUnit = 96;
  const int64_t row_bytes = std::max<int64_t>(1, first.out() * static_cast<int64_t>(sizeof(float)));
  const int64_t together = std::max(kRowUnit, kInnerBytes / row_bytes / kRowUnit * kRowUnit);
  const int64_t rows = rows_of(x);
  Shape shape = x.shape();
  shape.set(-1, second.out());
  Tensor y = Tensor::empty(shape);
  Tensor inner = Tensor::empty({std::min(rows, together), first.out()});
  for (int64_t row = 0; row < rows; row += together) {
    const int64_t count = std::min(together, rows - row);
    first.multiply(x.data<float>() + row * first.in(), count, function, inner.data<float>());
    second.multiply(inner.data<float>(), count, y.data<float>() + row * second.out());
  }
  return y;
}

}  // namespace heed::ops
