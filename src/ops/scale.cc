#include "ops/scale.h"

#include "ops/dispatch.h"

namespace heed::ops {
namespace {

Tensor scaled(const Tensor& x, double factor) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  for_float_type("scale", y, [&]<typename T>(T) {
    const T* from = x.data<T>();
    T* to = y.data<T>();
    for (int64_t i = 0; i < y.size(); ++i) to[i] = from[i] * static_cast<T>(factor);
  });
  return y;
}

}  // namespace

Var scale(const Var& x, double factor) {
  require_contiguous("scale", x.value());
  Tensor y = scaled(x.value(), factor);
  if (!x.wants_gradient()) return y;
  return x.tape()->record(y,
                          [x, factor](const Tensor& dy) { x.tape()->add_gradient(x, scaled(dy, factor)); });
}

}  // namespace heed::ops
