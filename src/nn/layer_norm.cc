#include "nn/layer_norm.h"

#include "ops/layer_norm.h"

namespace heed::nn {

LayerNorm::LayerNorm(ParameterTable& table, const std::string& name, int64_t width, double epsilon)
    : weight_(table.add({name + ".weight", {width}, {Initialisation::Kind::kOnes}, {name + ".gamma"}})),
      bias_(table.add({name + ".bias", {width}, {Initialisation::Kind::kZeros}, {name + ".beta"}})),
      epsilon_(epsilon) {}

Var LayerNorm::forward(Context& context, const Var& x) const {
  return ops::layer_norm(x, context.parameter(weight_), context.parameter(bias_), epsilon_);
}

}  // namespace heed::nn
