// The way of each token through the layers of a model.
//
// A Transformer's layers read and add to one vector of each token, the residual stream (Elhage et al., "A
// mathematical framework for Transformer circuits", 2021). The logit lens gives each of these vectors to the
// output layer, as if no layers followed (nostalgebraist, "interpreting GPT: the logit lens", 2020):
//   softmax(W norm(x) + b), norm the final norm of pre-norm models
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

/// A token with its probability, from 0 to 1.
struct TokenProbability {
  std::string token;
  double probability = 0;
};

/// The vectors of all tokens at one point of a stack.
struct LensState {
  int layer = 0;  ///< counted from 1; 0: before the first. Of "output": the number of layers
  /// "embedding": with positions. "self-attention", "cross-attention", "feed-forward": after this sub-layer,
  /// and its norm in post-norm models. "recurrence": the states of a recurrent layer; of its attentive layer
  /// with their contexts. "output": after the stack's final norm; in a recurrent decoder its readout.
  std::string part;
  int width = 0;
  std::vector<float> values;       ///< row-major: (tokens, width)
  std::vector<float> norms;        ///< of each token: the Euclidean norm of its vector
  std::vector<float> added_norms;  ///< of what the sub-layer added; empty where nothing is added
  // With LensOptions::parts:
  std::vector<float>
      heads{};  ///< of attention: what its heads mix, side by side (tokens, heads x head width)
  std::vector<float> added{};  ///< what the sub-layer added: (tokens, width); empty where nothing is added
  std::vector<float>
      log_sums{};  ///< of each token, where there are predictions: ln of the sum of exp(logits)
  /// Of each token: the likeliest tokens, best first, if the output layer read this vector. Empty in stacks
  /// that predict no tokens, and where the width is not that of the output layer.
  std::vector<std::vector<TokenProbability>> predictions;
  /// Of each token, where there are predictions: the probability of the expected token there.
  std::vector<float> expected;
};

/// One stack of a model; without tokens, the model does not have it.
struct LensStack {
  std::vector<std::string> tokens{};  ///< that it reads
  std::vector<int32_t> ids{};         ///< of these
  std::vector<LensState> states{};    ///< from "embedding" to "output"
  /// With LensOptions::parts: the tokens' embeddings, scaled, before positions are added. Row-major: (tokens,
  /// width).
  std::vector<float> embeddings{};

  /// The indices of states after whole layers: "embedding", then after each layer but the last, "output".
  /// These are the `hidden_states` of Hugging Face's library.
  std::vector<size_t> steps() const {
    std::vector<size_t> indices;
    for (size_t n = 0; n < states.size(); ++n) {
      const bool ends = n + 1 == states.size() || states[n + 1].layer > states[n].layer;
      if (ends && !(n + 2 == states.size() && states[n + 1].part == "output")) indices.push_back(n);
    }
    return indices;
  }
};

struct Lens {
  std::string model{}, source{}, target{};
  LensStack encoder{}, decoder{};
  /// The token that each position of the stack that predicts is expected to predict: the target, the next
  /// token of a text, or the likeliest in the end.
  std::vector<std::string> expected_tokens{};
};

struct LensOptions {
  /// Of a translation model: this instead of its own translation. Of a language model: what follows the text.
  std::string target{};
  int top = 5;         ///< number of predictions for each token and state; 0: none
  bool parts = false;  ///< also the vectors of which the states are made
};

/// What a table or a picture of a lens shows.
struct LensView {
  std::string stack{};  ///< "encoder" or "decoder"; empty: the one that predicts tokens
  /// "predictions": the likeliest token of each state, in a picture the probability of the expected one.
  /// "norms": of each vector. "added": of what each sub-layer adds. A stack without predictions has norms.
  std::string show = "predictions";
};

}  // namespace heed
