#include "ops/columns.h"

#include <algorithm>

#include "ops/dispatch.h"

namespace heed::ops {
namespace {

/// A block of columns of a matrix: its first element, and the width of the whole matrix.
template <typename T>
struct Block {
  T* first;
  int64_t stride;
};

template <typename T>
void copy(int64_t rows, int64_t width, Block<const T> from, Block<T> to) {
  for (int64_t row = 0; row < rows; ++row) {
    std::copy_n(from.first + row * from.stride, width, to.first + row * to.stride);
  }
}

template <typename T>
void add(int64_t rows, int64_t width, Block<const T> from, Block<T> to) {
  for (int64_t row = 0; row < rows; ++row) {
    const T* x = from.first + row * from.stride;
    T* sum = to.first + row * to.stride;
    for (int64_t c = 0; c < width; ++c) sum[c] += x[c];
  }
}

Shape with_width(Shape shape, int64_t width) {
  shape.set(-1, width);
  return shape;
}

}  // namespace

Var columns(const Var& x, int64_t begin, int64_t width) {
  require_rows("columns", x.value());
  const int64_t all = x.dim(-1), rows = rows_of(x.value());
  if (begin < 0 || width < 0 || begin + width > all) {
    fail(ErrorKind::kShape, "columns: [{}, {}) lie outside {}", begin, begin + width, x.shape().to_string());
  }
  Tensor y = Tensor::empty(with_width(x.shape(), width), x.dtype());
  for_float_type("columns", y, [&]<typename T>(T) {
    copy<T>(rows, width, {x.value().data<T>() + begin, all}, {y.data<T>(), width});
  });
  if (!x.wants_gradient()) return y;
  return x.tape()->record(y, [x, begin, width, all, rows](const Tensor& dy) {
    Tensor dx = x.tape()->accumulator(x);
    for_float_type("columns", dy, [&]<typename T>(T) {
      add<T>(rows, width, {dy.data<T>(), width}, {dx.data<T>() + begin, all});
    });
  });
}

Var concatenate(const std::vector<Var>& parts) {
  if (parts.empty()) fail(ErrorKind::kShape, "concatenate: there are no tensors");
  const Shape first = parts[0].shape();
  int64_t all = 0;
  Tape* tape = nullptr;
  for (const Var& part : parts) {
    require_rows("concatenate", part.value());
    require_same_type("concatenate", parts[0].value(), part.value());
    if (!(with_width(part.shape(), 0) == with_width(first, 0))) {
      fail(ErrorKind::kShape, "concatenate: shapes differ not only in the last axis: {} and {}",
           first.to_string(), part.shape().to_string());
    }
    all += part.dim(-1);
    tape = tape != nullptr ? tape : part.tape();
  }
  const int64_t rows = rows_of(parts[0].value());
  Tensor y = Tensor::empty(with_width(first, all), parts[0].dtype());
  for_float_type("concatenate", y, [&]<typename T>(T) {
    T* to = y.data<T>();
    for (const Var& part : parts) {
      copy<T>(rows, part.dim(-1), {part.value().data<T>(), part.dim(-1)}, {to, all});
      to += part.dim(-1);
    }
  });
  if (tape == nullptr) return y;
  return tape->record(y, [tape, parts, rows, all](const Tensor& dy) {
    for_float_type("concatenate", dy, [&]<typename T>(T) {
      const T* from = dy.data<T>();
      for (const Var& part : parts) {
        if (part.wants_gradient()) {
          Tensor dpart = tape->accumulator(part);
          add<T>(rows, part.dim(-1), {from, all}, {dpart.data<T>(), part.dim(-1)});
        }
        from += part.dim(-1);
      }
    });
  });
}

}  // namespace heed::ops
