#include "ops/norms/batch_norm.h"

#include <cmath>

#include "kernels/reduction/batch_norm.h"
#include "ops/gradients.h"
#include "ops/norms/feature_parameters.h"

namespace heed::ops {
namespace {

void require(const Var& x, const Var& weight, const Var& bias, const RunningMoments& running, bool training) {
  require_feature_parameters("batch_norm", x.value(), "weight, bias and running moments",
                             {weight.value(), bias.value(), running.mean, running.variance});
  if (training && rows_of(x.value()) < 2) {
    fail(ErrorKind::kShape, "batch_norm: training needs at least two rows, not x {}", x.shape().to_string());
  }
}

/// running = (1 - momentum) running + momentum * factor * batch
template <typename T>
void move_towards(Tensor& running, const Tensor& batch, double momentum, double factor) {
  T* to = running.data<T>();
  const T* from = batch.data<T>();
  for (int64_t c = 0; c < running.size(); ++c) {
    to[c] = static_cast<T>(1 - momentum) * to[c] + static_cast<T>(momentum * factor) * from[c];
  }
}

}  // namespace

Var batch_norm(const Var& x, const Var& weight, const Var& bias, RunningMoments& running,
               const BatchNormOptions& options) {
  require(x, weight, bias, running, options.training);
  const int64_t rows = rows_of(x.value()), columns = x.dim(-1);
  const Shape width{columns};
  Tensor mean = options.training ? Tensor::empty(width, x.dtype()) : running.mean.clone();
  Tensor variance = options.training ? Tensor::empty(width, x.dtype()) : running.variance;
  Tensor rstd = Tensor::empty(width, x.dtype()), scale = Tensor::empty(width, x.dtype());
  Tensor shift = Tensor::empty(width, x.dtype()), y = Tensor::empty(x.shape(), x.dtype());
  for_float_type("batch_norm", y, [&]<typename T>(T) {
    if (options.training) {
      column_moments({.rows = rows,
                      .columns = columns,
                      .x = x.value().data<T>(),
                      .mean = mean.data<T>(),
                      .variance = variance.data<T>()});
      const auto count = static_cast<double>(rows);
      move_towards<T>(running.mean, mean, options.momentum, 1);
      move_towards<T>(running.variance, variance, options.momentum, count / (count - 1));
    }
    for (int64_t c = 0; c < columns; ++c) {
      rstd.data<T>()[c] = 1 / std::sqrt(variance.data<T>()[c] + static_cast<T>(options.epsilon));
      scale.data<T>()[c] = rstd.data<T>()[c] * weight.value().data<T>()[c];
      shift.data<T>()[c] = bias.value().data<T>()[c] - mean.data<T>()[c] * scale.data<T>()[c];
    }
    scale_columns({.rows = rows,
                   .columns = columns,
                   .x = x.value().data<T>(),
                   .scale = scale.data<T>(),
                   .shift = shift.data<T>(),
                   .y = y.data<T>()});
  });
  Tape* tape = tape_of(x, weight, bias);
  if (tape == nullptr) return y;
  return tape->record(y, [x, weight, bias, mean, rstd, training = options.training](const Tensor& dy) {
    Tensor dx = accumulator_or_scratch(x), dweight = accumulator_or_scratch(weight),
           dbias = accumulator_or_scratch(bias);
    for_float_type("batch_norm", dy, [&]<typename T>(T) {
      batch_norm_backward({.rows = rows_of(dy),
                           .columns = dy.dim(-1),
                           .x = x.value().data<T>(),
                           .weight = weight.value().data<T>(),
                           .mean = mean.data<T>(),
                           .rstd = rstd.data<T>(),
                           .dy = dy.data<T>(),
                           .constant_moments = !training,
                           .dx = dx.data<T>(),
                           .dweight = dweight.data<T>(),
                           .dbias = dbias.data<T>()});
    });
  });
}

}  // namespace heed::ops
