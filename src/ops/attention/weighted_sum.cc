#include "ops/attention/weighted_sum.h"

#include "kernels/pointwise/elementwise.h"
#include "ops/dispatch.h"

namespace heed::ops {

Var weighted_sum(const Var& x, const Tensor& weights) {
  require_same_shape("weighted_sum", x.value(), weights);
  Tensor y = Tensor::zeros({1}, x.dtype());
  for_float_type("weighted_sum", y, [&]<typename T>(T) {
    double sum = 0;
    for (int64_t i = 0; i < weights.size(); ++i) {
      sum += static_cast<double>(weights.data<T>()[i]) * static_cast<double>(x.value().data<T>()[i]);
    }
    y.data<T>()[0] = static_cast<T>(sum);
  });
  if (!x.wants_gradient()) return y;
  return x.tape()->record(y, [x, weights](const Tensor& dy) {
    Tensor dx = x.tape()->accumulator(x);
    for_float_type("weighted_sum", dy, [&]<typename T>(T) {
      add_scaled(
          {.size = weights.size(), .factor = dy.data<T>()[0], .x = weights.data<T>(), .y = dx.data<T>()});
    });
  });
}

}  // namespace heed::ops
