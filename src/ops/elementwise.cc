#include "ops/elementwise.h"

#include "ops/capped_values.h"
#include "ops/dispatch.h"

namespace heed::ops {
namespace {

/// x * mask of the stream.
Tensor masked(const Tensor& x, const DropoutStream& stream) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  for_float_type("dropout", x, [&]<typename T>(T) {
    heed::dropout(
        {.stream = stream, .size = x.size(), .x = x.data<T>(), .residual = nullptr, .y = y.data<T>()});
  });
  return y;
}

Tensor masked(const Tensor& x, const Tensor& keep, double probability) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  for_float_type("dropout", x, [&]<typename T>(T) {
    const T scale = static_cast<T>(1 / (1 - probability));
    const T* from = x.data<T>();
    const uint8_t* kept = keep.data<uint8_t>();
    T* to = y.data<T>();
    for (int64_t i = 0; i < x.size(); ++i) to[i] = kept[i] != 0 ? from[i] * scale : T{0};
  });
  return y;
}

}  // namespace

Var add(const Var& a, const Var& b) {
  require_same_shape("add", a.value(), b.value());
  Tensor y = Tensor::empty(a.shape(), a.dtype());
  for_float_type("add", y, [&]<typename T>(T) {
    heed::add({.size = y.size(), .x = a.value().data<T>(), .z = b.value().data<T>(), .y = y.data<T>()});
  });
  Tape* tape = tape_of(a, b);
  if (tape == nullptr) return y;
  return tape->record(y, [tape, a, b](const Tensor& dy) {
    tape->add_gradient(a, dy);
    tape->add_gradient(b, dy);
  });
}

Var activate(Activation function, const Var& x) {
  require_contiguous("activate", x.value());
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  for_float_type("activate", y, [&]<typename T>(T) {
    heed::activate({.function = function, .size = y.size(), .x = x.value().data<T>(), .y = y.data<T>()});
  });
  if (!x.wants_gradient()) return y;
  return x.tape()->record(y, [function, x](const Tensor& dy) {
    Tensor dx = Tensor::empty(x.shape(), x.dtype());
    for_float_type("activate", dy, [&]<typename T>(T) {
      activate_backward({.function = function,
                         .size = dy.size(),
                         .x = x.value().data<T>(),
                         .dy = dy.data<T>(),
                         .dx = dx.data<T>()});
    });
    x.tape()->add_gradient(x, dx);
  });
}

Var soft_cap(const Var& x, double cap) {
  if (!(cap > 0)) fail(ErrorKind::kUsage, "soft_cap: the cap must be above 0, not {}", cap);
  require_contiguous("soft_cap", x.value());
  Tensor capped = Tensor::empty(x.shape(), x.dtype());  // tanh(x / cap)
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  for_float_type("soft_cap", y, [&]<typename T>(T) {
    cap_values(x.value().data<T>(), y.size(), cap, capped.data<T>(), y.data<T>());
  });
  if (!x.wants_gradient()) return y;
  return x.tape()->record(y, [x, capped](const Tensor& dy) {
    Tensor dx = dy.clone();
    for_float_type("soft_cap", dy,
                   [&]<typename T>(T) { cap_gradient(capped.data<T>(), dx.size(), dx.data<T>()); });
    x.tape()->add_gradient(x, dx);
  });
}

Var gated_activation(Activation function, const Var& x) {
  require_rows("gated_activation", x.value());
  if (x.dim(-1) % 2 != 0) {
    fail(ErrorKind::kShape, "gated_activation: the last axis of x {} must be even", x.shape().to_string());
  }
  const int64_t width = x.dim(-1) / 2, rows = rows_of(x.value());
  Shape shape = x.shape();
  shape.set(-1, width);
  Tensor y = Tensor::empty(shape, x.dtype());
  for_float_type("gated_activation", y, [&]<typename T>(T) {
    for (int64_t row = 0; row < rows; ++row) {
      const T* gate = x.value().data<T>() + row * 2 * width;
      T* out = y.data<T>() + row * width;
      heed::activate({.function = function, .size = width, .x = gate, .y = out});
      for (int64_t c = 0; c < width; ++c) out[c] *= gate[width + c];
    }
  });
  if (!x.wants_gradient()) return y;
  // With g the first half and u the second:  dg = dy u f'(g);  du = dy f(g)
  return x.tape()->record(y, [function, x, width, rows](const Tensor& dy) {
    Tensor dx = Tensor::empty(x.shape(), x.dtype());
    for_float_type("gated_activation", dy, [&]<typename T>(T) {
      for (int64_t row = 0; row < rows; ++row) {
        const T* gate = x.value().data<T>() + row * 2 * width;
        const T* upstream = dy.data<T>() + row * width;
        T* dgate = dx.data<T>() + row * 2 * width;
        T* dup = dgate + width;
        for (int64_t c = 0; c < width; ++c) dup[c] = upstream[c] * gate[width + c];
        activate_backward({.function = function, .size = width, .x = gate, .dy = dup, .dx = dgate});
        heed::activate({.function = function, .size = width, .x = gate, .y = dup});
        for (int64_t c = 0; c < width; ++c) dup[c] *= upstream[c];
      }
    });
    x.tape()->add_gradient(x, dx);
  });
}

Var dropout(const Var& x, const DropoutStream& stream) {
  if (!stream.active()) return x;
  require_contiguous("dropout", x.value());
  Tensor y = masked(x.value(), stream);
  if (!x.wants_gradient()) return y;
  return x.tape()->record(y,
                          [x, stream](const Tensor& dy) { x.tape()->add_gradient(x, masked(dy, stream)); });
}

Var dropout(const Var& x, const Tensor& keep, double probability) {
  if (!(x.shape() == keep.shape())) {
    fail(ErrorKind::kShape, "dropout: the mask {} must have the shape of x {}", keep.shape().to_string(),
         x.shape().to_string());
  }
  require_contiguous("dropout", x.value());
  require_contiguous("dropout", keep);
  if (!(probability >= 0 && probability < 1)) {
    fail(ErrorKind::kUsage, "dropout: the probability must be at least 0 and below 1, not {}", probability);
  }
  Tensor y = masked(x.value(), keep, probability);
  if (!x.wants_gradient()) return y;
  return x.tape()->record(y, [x, keep, probability](const Tensor& dy) {
    x.tape()->add_gradient(x, masked(dy, keep, probability));
  });
}

Var add_dropout(const Var& residual, const Var& x, const DropoutStream& stream) {
  if (!stream.active()) return add(residual, x);
  require_same_shape("add_dropout", residual.value(), x.value());
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  for_float_type("add_dropout", y, [&]<typename T>(T) {
    heed::dropout({.stream = stream,
                   .size = y.size(),
                   .x = x.value().data<T>(),
                   .residual = residual.value().data<T>(),
                   .y = y.data<T>()});
  });
  Tape* tape = tape_of(residual, x);
  if (tape == nullptr) return y;
  return tape->record(y, [tape, residual, x, stream](const Tensor& dy) {
    tape->add_gradient(residual, dy);
    if (x.wants_gradient()) tape->add_gradient(x, masked(dy, stream));
  });
}

}  // namespace heed::ops
