// The interface through which stacks of layers report their hidden states, and through which these can be
// replaced.
//
//   kTokens                      token embeddings
//   kResidual, layer -1          the residual stream: what the first layer reads
//   for each layer, and each of its sub-layers:
//     kHeads                     of attention: the outputs of its heads, before the output projection
//     kAdded                     what the sub-layer adds to the residual stream
//     kResidual                  the residual stream after it
//   kOutput                      what the stack gives, after its final norm
#pragma once

#include "autograd/tape.h"
#include "heed/trace.h"

namespace heed::nn {

/// The sub-layers of a layer. A layer of a recurrent network is one.
enum class SubLayer { kSelfAttention, kCrossAttention, kFeedForward, kRecurrence };

enum class StateKind {
  kTokens,    ///< embeddings, scaled, before positions are added; only for a hook that wants them
  kResidual,  ///< in a post-norm layer: after the norm that follows the sum
  kHeads,     ///< heads side by side (N, H d_k); only for a hook that wants them
  kAdded,     ///< the output of a sub-layer; after the output norm of a sandwich norm
  kOutput,    ///< in a stack without a final norm equal to the last kResidual
};

/// The position of a hidden state in a model.
struct StateId {
  Stack stack = Stack::kEncoder;  ///< kEncoder or kDecoder
  StateKind kind = StateKind::kResidual;
  int layer = -1;  ///< from 0; -1: before the first layer or behind the last
  SubLayer sub_layer = SubLayer::kSelfAttention;
  int heads = 0;  ///< H of kHeads
};

/// Whether a state is the residual stream after a whole layer, or before the first one.
inline bool ends_layer(const StateId& id) {
  if (id.kind != StateKind::kResidual) return false;
  return id.layer < 0 || id.sub_layer == SubLayer::kFeedForward || id.sub_layer == SubLayer::kRecurrence;
}

class StateHook {
 public:
  virtual ~StateHook() = default;
  /// `state` (N, width) has a row for each token of the batch. The forward pass continues with what is
  /// returned, which has the same shape.
  virtual Var pass(const StateId& id, const Var& state) = 0;
  /// Which states are passed. Without kTokens, sinusoidal positions are added within the embedding lookup.
  virtual bool wants(StateKind kind) const { return kind != StateKind::kTokens && kind != StateKind::kHeads; }
};

}  // namespace heed::nn
