// The residual connection of a sub-layer, with its dropout and its norms.
#pragma once

#include <optional>
#include <string>

#include "nn/layer_options.h"

namespace heed::nn {

class Residual {
 public:
  Residual() = default;
  /// Registers the norms that have names.
  Residual(ParameterTable& table, const std::string& prefix, const NormNames& names,
           const LayerOptions& options);
  /// Post-norm: norm(x + dropout(sub_layer(x))). Pre-norm: x + dropout(sub_layer(norm(x))). Sandwich norm: x
  /// + dropout(output_norm(sub_layer(norm(x)))). What has no norm is left as it is.
  template <typename SubLayer>
  Var forward(Context& context, const Var& x, const SubLayer& sub_layer) const {
    if (!norm_first_) return normed(context, norm_, add(context, x, sub_layer(x)));
    const Var y = sub_layer(normed(context, norm_, x));
    return add(context, x, normed(context, output_norm_, y));
  }

 private:
  static Var normed(Context& context, const std::optional<Norm>& norm, const Var& x) {
    return norm ? norm->forward(context, x) : x;
  }
  Var add(Context& context, const Var& x, const Var& y) const;

  std::optional<Norm> norm_, output_norm_;
  bool norm_first_ = false;
  double dropout_ = 0;
};

}  // namespace heed::nn
