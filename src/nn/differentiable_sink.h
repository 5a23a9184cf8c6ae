// An attention sink for training: it receives the weights as a variable, so that a loss of them can be added
// to the model's.
#pragma once

#include "autograd/tape.h"
#include "nn/attention_sink.h"

namespace heed::nn {

/// Supported by the attention layers of a Transformer only. Layers that it does not want compute as without a
/// sink.
class DifferentiableSink : public AttentionSink {
 public:
  virtual bool wants(const AttentionLayerId& id) const = 0;
  /// As receive().
  virtual void receive_variable(const Var& weights, const ops::AttentionLayout& layout, int heads) = 0;

 private:
  void receive(const AttentionLayerId&, const Tensor&, const ops::AttentionLayout&, int) final {}
};

}  // namespace heed::nn
