#include "nn/norms/layer_norm.h"

#include "ops/norms/layer_norm.h"

namespace heed::nn {

LayerNorm::LayerNorm(ParameterTable& table, const std::string& name, int64_t width, double epsilon, bool bias)
    : weight_(table.add({name + ".weight", {width}, {Initialization::Kind::kOnes}, {name + ".gamma"}})),
      epsilon_(epsilon) {
  if (bias) bias_ = table.add({name + ".bias", {width}, {Initialization::Kind::kZeros}, {name + ".beta"}});
}

Var LayerNorm::bias(const Context& context, const Tensor& x) const {
  return bias_.defined() ? context.parameter(bias_) : Var(Tensor::zeros({x.dim(-1)}, x.dtype()));  // (D)
}

Var LayerNorm::forward(Context& context, const Var& x) const {
  return ops::layer_norm(x, context.parameter(weight_), bias(context, x.value()), epsilon_);
}

Tensor LayerNorm::forward_sum(Context& context, const Tensor& x, const Tensor& added) const {
  return ops::layer_norm_of_sum(x, added, context.parameter(weight_).value(), bias(context, x).value(),
                                epsilon_);
}

}  // namespace heed::nn
