// The linear layer: y = x W^T + b.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nn/context.h"

namespace heed::nn {

/// Several linear layers of the same input, whose weights lie one after the other, are one product: see
/// Linear::join.
class Linear {
 public:
  Linear() = default;
  /// Registers `name`.weight (out, in), and `name`.bias (out) where wanted.
  Linear(ParameterTable& table, const std::string& name, int64_t in, int64_t out, bool bias = true);
  /// Registers a layer for each name, all of the same widths, so that they can also be used as one.
  static Linear join(ParameterTable& table, const std::vector<std::string>& names, int64_t in, int64_t out,
                     bool bias = true);
  /// The same for layers of different widths.
  struct Part {
    std::string name;
    int64_t out = 0;
  };
  static Linear join_parts(ParameterTable& table, const std::vector<Part>& parts, int64_t in,
                           bool bias = true);
  /// The layers [begin, begin + count) of those joined.
  Linear part(int begin, int count = 1) const;

  /// x (..., in) -> (..., out), or (..., count * out) where joined.
  Var forward(Context& context, const Var& x) const;

  ParamRef weight() const { return weight_; }
  ParamRef bias() const { return bias_; }

 private:
  ParamRef weight_, bias_;
};

/// x (..., in) -> (..., out), for a weight that is not a layer's own: the embeddings once more, for logits.
Var linear(Context& context, const Var& x, ParamRef weight, ParamRef bias = {});

/// Of row r of x (R, in) the outputs wanted[r] alone, one row behind the other: (sum of their numbers). For
/// inference in float32 or 8 bits.
Tensor selected_linear(Context& context, const Tensor& x, ParamRef weight, ParamRef bias,
                       std::span<const std::span<const int32_t>> wanted);

}  // namespace heed::nn
