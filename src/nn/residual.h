// The residual connection of a sub-layer, with its dropout and its norm.
#pragma once

#include <string>

#include "nn/layer_options.h"

namespace heed::nn {

class Residual {
 public:
  Residual() = default;
  /// Registers the norm's parameters under `norm_name`.
  Residual(ParameterTable& table, const std::string& norm_name, const LayerOptions& options);
  /// Post-norm: norm(x + dropout(sub_layer(x))). Pre-norm: x + dropout(sub_layer(norm(x))).
  template <typename SubLayer>
  Var forward(Context& context, const Var& x, const SubLayer& sub_layer) const {
    if (norm_first_) return add(context, x, sub_layer(norm_.forward(context, x)));
    return norm_.forward(context, add(context, x, sub_layer(x)));
  }

 private:
  Var add(Context& context, const Var& x, const Var& y) const;

  Norm norm_;
  bool norm_first_ = false;
  double dropout_ = 0;
};

}  // namespace heed::nn
