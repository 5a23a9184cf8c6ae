#include "nn/layer_norm.h"

#include "ops/layer_norm.h"

namespace heed::nn {

LayerNorm::LayerNorm(ParameterTable& table, const std::string& name, int64_t width)
    : weight_(table.add({name + ".weight", {width}, {Initialisation::Kind::kOnes}, {}})),
      bias_(table.add({name + ".bias", {width}, {Initialisation::Kind::kZeros}, {}})) {}

Var LayerNorm::forward(Context& context, const Var& x) const {
  return ops::layer_norm(x, context.parameter(weight_), context.parameter(bias_));
}

}  // namespace heed::nn
