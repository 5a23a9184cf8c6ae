// The linear layer: y = x W^T + b.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nn/context.h"
#include "ops/cross_entropy.h"

namespace heed::nn {

/// Several linear layers of the same input, whose weights lie one after the other, are one product: see
/// Linear::join.
class Linear {
 public:
  Linear() = default;
  /// Registers `name`.weight (out, in), and `name`.bias (out) where wanted.
  Linear(ParameterTable& table, const std::string& name, int64_t in, int64_t out, bool bias = true);
  /// Of parameters that are registered already: an output layer tied to the embeddings.
  Linear(ParameterTable& table, ParamRef weight, ParamRef bias = {});
  /// Registers a layer for each name, all of the same widths, so that they can also be used as one.
  static Linear join(ParameterTable& table, const std::vector<std::string>& names, int64_t in, int64_t out,
                     bool bias = true);
  /// The same for layers of different widths.
  struct Output {
    std::string name;
    int64_t out = 0;
  };
  static Linear join_outputs(ParameterTable& table, const std::vector<Output>& outputs, int64_t in,
                             bool bias = true);
  /// The layers [begin, begin + count) of those joined.
  Linear slice(ParameterTable& table, int begin, int count = 1) const;

  /// x (..., in) -> (..., out), or (..., count * out) where joined.
  Var forward(Context& context, const Var& x) const;
  /// Of row r of x (R, in) only the outputs selected[r], one row after the other: (sum of their numbers). For
  /// inference in float32, bfloat16 or int8.
  Tensor forward_selected(Context& context, const Tensor& x,
                          std::span<const std::span<const int32_t>> selected) const;

  /// The loss of targets (N) given x (N, in) where this is a model's output layer, without all its logits at
  /// once: see ops::vocabulary_cross_entropy().
  ops::VocabularyLoss vocabulary_loss(Context& context, const Var& x, const Tensor& targets,
                                      ops::CrossEntropyOptions options) const;

  /// The packed weight and bias; null in training and in float64.
  const PackedMatrix* packed(const Context& context) const { return context.packed_matrix(product_); }

  const ProductRef& product() const { return product_; }
  ParamRef weight() const { return product_.weight; }
  ParamRef bias() const { return product_.bias; }

 private:
  ProductRef product_;
};

}  // namespace heed::nn
