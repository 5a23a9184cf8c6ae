// Attention weights of a model, with their tokens.
//
// For one head, weights[query][key] is the share of the query's attention that a key receives:
//   softmax(Q K^T / sqrt(d_k) + mask), each row summing to 1 (Vaswani et al., "Attention is all you need",
//   2017).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heed {

/// The three uses of attention. Cross: queries from the target, keys from the source.
enum class Stack { kEncoder, kDecoder, kCross };
inline constexpr std::array<Stack, 3> kStacks{Stack::kEncoder, Stack::kDecoder, Stack::kCross};

/// The weights of one head.
struct AttentionMatrix {
  int queries = 0, keys = 0;
  std::vector<float> weights;  ///< row-major: (queries, keys)

  bool empty() const { return queries == 0; }
  float at(int query, int key) const { return weights[static_cast<size_t>(query) * keys + key]; }
};

/// [layer][head]. Matrices that were not recorded or selected are empty, so that indices keep their meaning.
using StackWeights = std::vector<std::vector<AttentionMatrix>>;

/// Intermediate values of one head:
///   scores = scale q k^T + bias, or with a soft cap (Gemma team, "Gemma 2", 2024)
///   scores = cap tanh(scale q k^T / cap) + bias
/// The weights are the softmax of the scores of the keys that are visible.
struct HeadDetail {
  int width = 0;                         ///< d_k, the width of queries, keys and values
  float scale = 1;                       ///< 1 / sqrt(d_k) in most models
  std::vector<float> query, key, value;  ///< row-major: (queries, width), (keys, width), (keys, width)
  std::vector<float> scores;             ///< row-major: (queries, keys)
  float cap = 0;                         ///< the soft cap; 0: none
  /// What relative positions add (T5's bias of a distance, Shaw's keys): (queries, keys). Empty: nothing.
  std::vector<float> bias = {};
  /// (queries, keys): 0 where a mask hides the key from the query, such as the look-ahead mask or a sliding
  /// window, else 1. Empty: every key is visible.
  std::vector<uint8_t> visible = {};

  bool empty() const { return width == 0; }
};

/// The attention for one sentence pair, or for a text (`source`) and its predicted class (`target`). Stacks
/// that a model does not have are empty: a language model has only a decoder, a classifier only an encoder,
/// an RNN only cross-attention.
struct Trace {
  std::string model, source, target;
  std::vector<std::string> source_tokens;
  /// The output tokens of the decoder positions, including the end token: the queries of `decoder` and
  /// `cross`. Of a language model, the tokens that follow those it reads: the text without its first token,
  /// and the likeliest next one; its queries are called by what is read, `decoder_tokens`.
  std::vector<std::string> target_tokens;
  /// The input tokens of the decoder positions: the keys of `decoder`, and its queries in a language model.
  /// Empty: the usual shift by one, the start token and then the target tokens without the last.
  std::vector<std::string> decoder_tokens;
  StackWeights encoder, decoder, cross;
  /// ln P of each target token, given the source and the preceding target tokens; empty if unknown.
  std::vector<float> log_probabilities = {};
  /// The word index of each source token, and of each input token of the decoder, from 0, non-decreasing
  /// without gaps. Empty: words begin at tokens with the word boundary marker "▁".
  std::vector<int> source_words = {}, decoder_words = {};
  /// Whether pieces of the source that continue a word begin with "##", as of WordPiece.
  bool word_pieces = false;
  /// [stack][layer][head] in the order of Stack; empty unless requested.
  std::array<std::vector<std::vector<HeadDetail>>, kStacks.size()> details = {};
  /// Whether each layer has a single matrix, the mean over its heads.
  bool heads_averaged = false;
};

}  // namespace heed
