#include "ops/rms_norm.h"

#include "kernels/reduction/rms_norm.h"
#include "ops/feature_parameters.h"
#include "ops/gradients.h"

namespace heed::ops {

Var rms_norm(const Var& x, const Var& weight, double epsilon) {
  require_feature_parameters("rms_norm", x.value(), "a weight", {weight.value()});
  Tape* tape = tape_of(x, weight);
  const int64_t rows = rows_of(x.value());
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const Tensor rrms = tape != nullptr ? Tensor::empty({rows}, x.dtype()) : Tensor();
  for_float_type("rms_norm", y, [&]<typename T>(T) {
    Tensor kept = rrms;
    heed::rms_norm({.rows = rows,
                    .width = x.dim(-1),
                    .epsilon = epsilon,
                    .x = x.value().data<T>(),
                    .weight = weight.value().data<T>(),
                    .y = y.data<T>(),
                    .rrms = kept.defined() ? kept.data<T>() : nullptr});
  });
  if (tape == nullptr) return y;
  return tape->record(y, [tape, x, weight, rrms](const Tensor& dy) {
    Tensor dx = Tensor::empty(x.shape(), x.dtype());
    Tensor dweight = accumulator_or_scratch(weight);
    for_float_type("rms_norm", dy, [&]<typename T>(T) {
      rms_norm_backward({.rows = rows_of(dy),
                         .width = dy.dim(-1),
                         .x = x.value().data<T>(),
                         .weight = weight.value().data<T>(),
                         .rrms = rrms.data<T>(),
                         .dy = dy.data<T>(),
                         .dx = dx.data<T>(),
                         .dweight = dweight.data<T>()});
    });
    tape->add_gradient(x, dx);
  });
}

}  // namespace heed::ops
