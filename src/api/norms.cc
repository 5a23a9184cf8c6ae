// heed/norms.h over the ops.
#include <cmath>

#include "base/check.h"
#include "heed/norms.h"
#include "ops/norms/batch_norm.h"
#include "ops/norms/layer_norm.h"
#include "ops/norms/rms_norm.h"

namespace heed {
namespace {

/// A vector of (D), or one of `value` everywhere.
Tensor or_constant(const Tensor& given, double value, const Tensor& x) {
  if (given.defined()) return given;
  return Tensor::from(std::vector<double>(static_cast<size_t>(x.dim(-1)), value), {x.dim(-1)}).to(x.dtype());
}

void require_options(const char* name, const NormOptions& o) {
  if (!(o.epsilon >= 0) || !std::isfinite(o.epsilon)) {
    fail(ErrorKind::kUsage, "{}: epsilon must be a finite number of at least 0, not {}", name, o.epsilon);
  }
}

void require_vectors(const char* name, const Tensor& x) {
  if (!x.defined() || x.rank() < 1 || x.dim(-1) < 1) {
    fail(ErrorKind::kShape, "{}: x must be (..., D), not {}", name,
         x.defined() ? x.shape().to_string() : "no tensor");
  }
}

}  // namespace

Tensor layer_norm(const Tensor& x, const NormOptions& o) {
  require_vectors("layer_norm", x);
  require_options("layer_norm", o);
  return ops::layer_norm(x, or_constant(o.weight, 1, x), or_constant(o.bias, 0, x), o.epsilon).value();
}

Tensor rms_norm(const Tensor& x, const NormOptions& o) {
  require_vectors("rms_norm", x);
  require_options("rms_norm", o);
  if (o.bias.defined()) fail(ErrorKind::kUsage, "rms_norm has no bias");
  return ops::rms_norm(x, or_constant(o.weight, 1, x), {.epsilon = o.epsilon}).value();
}

Tensor batch_norm_training(const Tensor& x, const NormOptions& o, BatchMoments* running) {
  require_vectors("batch_norm", x);
  require_options("batch_norm", o);
  if (running != nullptr && !(running->momentum >= 0 && running->momentum <= 1)) {
    fail(ErrorKind::kUsage, "batch_norm: the momentum must be from 0 to 1, not {}", running->momentum);
  }
  // Copies, which batch_norm() writes to: the caller's may be borrowed, or shared with other tensors.
  ops::RunningMoments moments{or_constant(running != nullptr ? running->mean : Tensor(), 0, x).clone(),
                              or_constant(running != nullptr ? running->variance : Tensor(), 1, x).clone()};
  const double momentum = running != nullptr ? running->momentum : 0.1;
  const Var y = ops::batch_norm(x, or_constant(o.weight, 1, x), or_constant(o.bias, 0, x), moments,
                                {.epsilon = o.epsilon, .momentum = momentum, .training = true});
  if (running != nullptr) {
    running->mean = moments.mean;
    running->variance = moments.variance;
  }
  return y.value();
}

Tensor batch_norm(const Tensor& x, const BatchMoments& running, const NormOptions& o) {
  require_vectors("batch_norm", x);
  require_options("batch_norm", o);
  ops::RunningMoments moments{or_constant(running.mean, 0, x), or_constant(running.variance, 1, x)};
  return ops::batch_norm(x, or_constant(o.weight, 1, x), or_constant(o.bias, 0, x), moments,
                         {.epsilon = o.epsilon})
      .value();
}

}  // namespace heed
