// Layer normalisation with its weight and bias (Ba, Kiros and Hinton, 2016).
#pragma once

#include <string>

#include "nn/context.h"

namespace heed::nn {

class LayerNorm {
 public:
  LayerNorm() = default;
  /// Registers `name`.weight and `name`.bias, both (width).
  LayerNorm(ParameterTable& table, const std::string& name, int64_t width);
  /// (..., width) -> the same shape
  Var forward(Context& context, const Var& x) const;

 private:
  ParamRef weight_, bias_;
};

}  // namespace heed::nn
