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

/// How the weights of a layer come about, in their order.
struct AttentionScores {
  Tensor scores;     ///< scale * Q K^T, with the soft cap, plus `bias`; before the mask
  Tensor bias{};     ///< what relative positions add; undefined: nothing
  Tensor visible{};  ///< uint8; 0 where the mask hides the key; undefined: every key is visible
};

/// Receives weights in a forward pass of whole sequences. Without a sink, attention does not materialize
/// them.
class AttentionSink {
 public:
  virtual ~AttentionSink() = default;
  /// Whether it wants the weights of a layer; others compute as without a sink.
  virtual bool wants(const AttentionLayerId& /*id*/) const { return true; }
  /// `weights` is flat, in the order (sequence, head, query, key) of the layout; before dropout. In training
  /// it is a variable, so that a loss of the weights can be added to the model's.
  virtual void receive(const AttentionLayerId& id, const Var& weights, const ops::AttentionLayout& layout,
                       int heads) = 0;
  /// Whether receive_operands() is to be called, for which more is computed than the weights.
  virtual bool wants_operands() const { return false; }
  /// Called before `receive` if there are queries and keys (an RNN's additive attention has none): the
  /// operands of the weights.
  virtual void receive_operands(const AttentionLayerId& /*id*/, const ops::AttentionOperands& /*operands*/,
                                const AttentionScores& /*scores*/, const ops::AttentionLayout& /*layout*/) {}
};

}  // namespace heed::nn
