#include "ops/reshape.h"

namespace heed::ops {

Var reshape(const Var& x, const Shape& shape) {
  const Tensor y = x.value().reshape(shape);
  if (!x.wants_gradient()) return y;
  return x.tape()->record(y, [x](const Tensor& dy) { x.tape()->add_gradient(x, dy.reshape(x.shape())); });
}

}  // namespace heed::ops
