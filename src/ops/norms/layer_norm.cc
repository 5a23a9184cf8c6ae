#include "ops/norms/layer_norm.h"

#include "kernels/reduction/layer_norm.h"
#include "ops/gradients.h"
#include "ops/norms/feature_parameters.h"

namespace heed::ops {

Var layer_norm(const Var& x, const Var& weight, const Var& bias, double epsilon) {
  require_feature_parameters("layer_norm", x.value(), "weight and bias", {weight.value(), bias.value()});
  Tape* tape = tape_of(x, weight, bias);
  const int64_t rows = rows_of(x.value());
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  Tensor mean, rstd;
  if (tape != nullptr) {
    mean = Tensor::empty({rows}, x.dtype());
    rstd = Tensor::empty({rows}, x.dtype());
  }
  for_float_type("layer_norm", y, [&]<typename T>(T) {
    heed::layer_norm({.rows = rows,
                      .width = x.dim(-1),
                      .epsilon = epsilon,
                      .x = x.value().data<T>(),
                      .weight = weight.value().data<T>(),
                      .bias = bias.value().data<T>(),
                      .y = y.data<T>(),
                      .mean = mean.defined() ? mean.data<T>() : nullptr,
                      .rstd = rstd.defined() ? rstd.data<T>() : nullptr});
  });
  if (tape == nullptr) return y;
  return tape->record(y, [tape, x, weight, bias, mean, rstd](const Tensor& dy) {
    Tensor dx = Tensor::empty(x.shape(), x.dtype());
    Tensor dweight = accumulator_or_scratch(weight), dbias = accumulator_or_scratch(bias);
    for_float_type("layer_norm", dy, [&]<typename T>(T) {
      layer_norm_backward({.rows = rows_of(dy),
                           .width = dy.dim(-1),
                           .x = x.value().data<T>(),
                           .weight = weight.value().data<T>(),
                           .mean = mean.data<T>(),
                           .rstd = rstd.data<T>(),
                           .dy = dy.data<T>(),
                           .dx = dx.data<T>(),
                           .dweight = dweight.data<T>(),
                           .dbias = dbias.data<T>()});
    });
    tape->add_gradient(x, dx);
  });
}

Tensor layer_norm_of_sum(const Tensor& x, const Tensor& added, const Tensor& weight, const Tensor& bias,
                         double epsilon) {
  require_feature_parameters("layer_norm_of_sum", x, "weight and bias", {weight, bias});
  require_same_shape("layer_norm_of_sum", x, added);
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  for_float_type("layer_norm_of_sum", y, [&]<typename T>(T) {
    heed::layer_norm({.rows = rows_of(x),
                      .width = x.dim(-1),
                      .epsilon = epsilon,
                      .x = x.data<T>(),
                      .weight = weight.data<T>(),
                      .bias = bias.data<T>(),
                      .y = y.data<T>(),
                      .added = added.data<T>()});
  });
  return y;
}

}  // namespace heed::ops
