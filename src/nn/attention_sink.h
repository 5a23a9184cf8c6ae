// The interface through which attention layers report their weights.
#pragma once

#include "heed/tensor.h"
#include "heed/trace.h"
#include "ops/attention/attention.h"

namespace heed::nn {

/// The position of an attention layer in a model.
struct AttentionLayerId {
  Stack stack = Stack::kEncoder;
  int layer = 0;
};

/// Receives weights. Without a sink, attention does not materialize them.
class AttentionSink {
 public:
  virtual ~AttentionSink() = default;
  /// `weights` is flat, in the order (sequence, head, query, key) of the layout; before dropout.
  virtual void receive(const AttentionLayerId& id, const Tensor& weights, const ops::AttentionLayout& layout,
                       int heads) = 0;
  /// Called before `receive` if there are queries and keys (an RNN's additive attention has none): the
  /// operands of the weights. `scores` are scaled, before the mask, in the order of the weights.
  virtual void receive_operands(const AttentionLayerId& /*id*/, const ops::AttentionOperands& /*operands*/,
                                const Tensor& /*scores*/, const ops::AttentionLayout& /*layout*/) {}
};

}  // namespace heed::nn
