// Layer normalization with weight and bias (Ba, Kiros and Hinton, 2016).
#pragma once

#include <string>

#include "nn/context.h"

namespace heed::nn {

class LayerNorm {
 public:
  LayerNorm() = default;
  /// Registers `name`.weight and `name`.bias, both (width); files may also call them gamma and beta.
  /// `epsilon` is added to the variance.
  LayerNorm(ParameterTable& table, const std::string& name, int64_t width, double epsilon = 1e-5);
  /// (..., width) -> the same shape
  Var forward(Context& context, const Var& x) const;

 private:
  ParamRef weight_, bias_;
  double epsilon_ = 1e-5;
};

}  // namespace heed::nn
