#include "ops/scale.h"

#include "base/check.h"
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

Tensor with_scaled_heads(const Tensor& x, const std::vector<float>& factors) {
  const auto heads = static_cast<int64_t>(factors.size()), width = x.dim(-1) / heads;
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  for_float_type("scale_heads", y, [&]<typename T>(T) {
    const T* from = x.data<T>();
    T* to = y.data<T>();
    for (int64_t i = 0; i < y.size(); ++i) to[i] = from[i] * static_cast<T>(factors[i / width % heads]);
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

Var scale_heads(const Var& x, const std::vector<float>& factors) {
  require_contiguous("scale_heads", x.value());
  if (factors.empty() || x.dim(-1) % static_cast<int64_t>(factors.size()) != 0) {
    fail(ErrorKind::kShape, "scale_heads: x {} cannot be divided among {} heads", x.shape().to_string(),
         factors.size());
  }
  Tensor y = with_scaled_heads(x.value(), factors);
  if (!x.wants_gradient()) return y;
  return x.tape()->record(
      y, [x, factors](const Tensor& dy) { x.tape()->add_gradient(x, with_scaled_heads(dy, factors)); });
}

}  // namespace heed::ops
