// An attention sink that records the weights of one sentence for a Trace.
#pragma once

#include <array>

#include "inspect/trace/trace.h"
#include "nn/attention_sink.h"

namespace heed {

/// For one forward pass of one sentence pair; not thread-safe.
class AttentionRecorder : public nn::AttentionSink {
 public:
  /// `details`: keep queries, keys, values and scores too.
  explicit AttentionRecorder(bool details = false) : keeps_details_(details) {}

  /// Throws kUsage for a batch of several sentences.
  void receive(const nn::AttentionLayerId& id, const Var& weights, const ops::AttentionLayout& layout,
               int heads) override;
  bool wants_operands() const override { return keeps_details_; }
  void receive_operands(const nn::AttentionLayerId& id, const ops::AttentionOperands& operands,
                        const nn::AttentionScores& scores, const ops::AttentionLayout& layout) override;

  /// The recorded weights, [layer][head] of each stack.
  const StackWeights& stack(Stack which) const { return stacks_[static_cast<size_t>(which)]; }
  /// Moves the recorded weights into a trace.
  void move_into(Trace& trace);

 private:
  bool keeps_details_;
  std::array<StackWeights, kStacks.size()> stacks_;  // in the order of Stack
  decltype(Trace::details) details_;                 // the same
};

}  // namespace heed
