// Hooks: functions that read or replace the states of a model while it computes.
//
//   encoder:3:5, decoder:3:5    what head 5 of self-attention in layer 3 mixes, before the output projection
//   cross:3:5                   the same of cross-attention
//   encoder:3:self-attention    what a sub-layer of layer 3 adds to the residual stream: "self-attention",
//                               "cross-attention" or "feed-forward"
//   encoder:3:layer             the residual stream after layer 3; of a recurrent network its states
//   encoder:embedding           the residual stream before the first layer, with positions
//   encoder:output              what the stack gives, after its final norm
//
// Likewise for "decoder". Layers and heads are counted from 1; "all" is each of them: cross:all:5,
// cross:3:all, decoder:all:layer. "layer", "embedding" and "output" are the `hidden_states` of Hugging Face's
// library, but that its last one is the output instead of the last layer.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// A state that passes a hook: a vector for each token that the stack reads at this time. All of a text, or
/// in a step of Decoding the last token of each row.
struct HookedState {
  std::string name{};                ///< as above, with numbers instead of "all"
  std::span<const int> positions{};  ///< of each token in its sequence, from 0
  int width = 0;                     ///< of a vector; of a head its head width
  /// Row-major: (tokens, width). The model goes on with what is here after the call.
  std::span<float> values{};

  int rows() const { return static_cast<int>(positions.size()); }
  std::span<float> row(int n) const {
    return values.subspan(static_cast<size_t>(n) * static_cast<size_t>(width), static_cast<size_t>(width));
  }
};

/// Called on the thread that computes. The spans end with the call. What it throws ends the computation and
/// reaches the caller.
using Hook = std::function<void(const HookedState& state)>;

/// Hooks with the names of their states. Of several hooks on one state, each sees what those before it wrote.
using Hooks = std::vector<std::pair<std::string, Hook>>;

}  // namespace heed
