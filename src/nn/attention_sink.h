// Whoever wants to see the attention weights.
#pragma once

#include "heed/tensor.h"
#include "heed/trace.h"
#include "ops/attention.h"

namespace heed::nn {

/// Where in a model an attention layer is.
struct AttentionPlace {
  Stack stack = Stack::kEncoder;
  int layer = 0;
};

/// Listens. Weights are made for a listener only: where nobody listens, they never exist.
class AttentionSink {
 public:
  virtual ~AttentionSink() = default;
  /// `weights` is flat, in the order (sequence, head, query, key) of the layout; before dropout.
  virtual void receive(const AttentionPlace& place, const Tensor& weights, const ops::AttentionLayout& layout,
                       int heads) = 0;
  /// Before `receive`, where there are queries and keys (an RNN's additive attention has none): what the
  /// weights are computed from. `scores` are scaled, before the mask, in the order of the weights.
  virtual void receive_operands(const AttentionPlace& /*place*/, const ops::AttentionOperands& /*operands*/,
                                const Tensor& /*scores*/, const ops::AttentionLayout& /*layout*/) {}
};

}  // namespace heed::nn
