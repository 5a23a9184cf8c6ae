// The residual connection of a sub-layer, with its dropout and its norms.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "nn/layer_options.h"

namespace heed::nn {

class Residual {
 public:
  Residual() = default;
  /// The position of a sub-layer in a model, as hidden states are reported.
  struct Position {
    int layer = 0;
    SubLayer sub_layer = SubLayer::kSelfAttention;
  };
  /// Registers the norms that have names.
  Residual(ParameterTable& table, const std::string& prefix, const NormNames& names,
           const LayerOptions& options, const Position& position);
  /// Post-norm: norm(x + dropout(sub_layer(x))). Pre-norm: x + dropout(sub_layer(norm(x))). Sandwich norm: x
  /// + dropout(output_norm(sub_layer(norm(x)))). What has no norm is left as it is.
  template <typename SubLayer>
  Var forward(Context& context, const Var& x, const SubLayer& sub_layer) const {
    if (!norm_first_) return residual(context, normed_sum(context, x, sub_layer(x)));
    const Var y = sub_layer(normed(context, norm_, x));
    return residual(context, add(context, x, normed(context, output_norm_, y)));
  }

 private:
  static Var normed(Context& context, const std::optional<Norm>& norm, const Var& x) {
    return norm ? norm->forward(context, x) : x;
  }
  Var add(Context& context, const Var& x, const Var& y) const;
  /// norm(x + dropout(y))
  Var normed_sum(Context& context, const Var& x, const Var& y) const;
  Var residual(const Context& context, Var x) const {
    return context.pass(state_id(StateKind::kResidual), std::move(x));
  }
  StateId state_id(StateKind kind) const { return {stack_, kind, position_.layer, position_.sub_layer}; }

  std::optional<Norm> norm_, output_norm_;
  Stack stack_ = Stack::kEncoder;
  Position position_;
  bool norm_first_ = false;
  double dropout_ = 0;
};

}  // namespace heed::nn
