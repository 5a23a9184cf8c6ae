// Layer normalization with weight and, by default, bias (Ba, Kiros and Hinton, 2016).
#pragma once

#include <string>

#include "nn/context.h"

namespace heed::nn {

class LayerNorm {
 public:
  LayerNorm() = default;
  /// Registers `name`.weight and, with `bias`, `name`.bias, both (width); files may also call them gamma and
  /// beta. `epsilon` is added to the variance.
  LayerNorm(ParameterTable& table, const std::string& name, int64_t width, double epsilon = 1e-5,
            bool bias = true);
  /// (..., width) -> the same shape
  Var forward(Context& context, const Var& x) const;
  /// Of x + added, in inference.
  Tensor forward_sum(Context& context, const Tensor& x, const Tensor& added) const;

 private:
  Var bias(const Context& context, const Tensor& x) const;

  ParamRef weight_, bias_;  // no bias if undefined
  double epsilon_ = 1e-5;
};

}  // namespace heed::nn
