// The position-wise feed-forward network (Vaswani et al., 2017, section 3.3): W_2 f(W_1 x + b_1) + b_2; or
// with a gate (Shazeer, "GLU variants improve Transformer", 2020): W_2 (f(W_g x) * W_1 x).
#pragma once

#include <string>

#include "kernels/pointwise/elementwise.h"
#include "nn/linear.h"

namespace heed::nn {

class FeedForward {
 public:
  struct Options {
    int64_t width = 512;
    int64_t inner_width = 2048;
    Activation activation = Activation::kRelu;
    double activation_dropout = 0;  ///< on f(...)
    /// Names of the two linear layers, after the prefix.
    std::string first_name = "fc1", second_name = "fc2";
    std::string gate_name{};     ///< of W_g; empty: no gate
    bool gate_in_first = false;  ///< the first layer is one matrix of W_g and W_1, in this order
    bool bias = true;            ///< in all of them
  };
  FeedForward() = default;
  /// Registers both layers under `prefix`.
  FeedForward(ParameterTable& table, const std::string& prefix, const Options& options);
  /// (N, width) -> (N, width)
  Var forward(Context& context, const Var& x) const;

 private:
  Options options_;
  bool gated_ = false;
  Linear first_, second_;
};

}  // namespace heed::nn
