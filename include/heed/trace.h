// What a model attended to: plain numbers and the tokens they belong to.
//
// For one head, weights[query][key] is the share of the query's attention that a key receives:
//   softmax(Q K^T / sqrt(d_k) + mask), each row summing to 1 (Vaswani et al., "Attention is all you need",
//   2017).
#pragma once

#include <array>
#include <cstddef>
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

/// [layer][head]. Empty matrices stand where nothing was recorded or chosen, so an index keeps its meaning.
using AttentionStack = std::vector<std::vector<AttentionMatrix>>;

/// What the weights of one head are computed from. `scores` are q k^T times `scale`, and the contribution of
/// relative positions where a model has those, before the mask; their softmax is the weights.
struct HeadDetail {
  int width = 0;                         ///< d_k, the numbers in one query, key or value
  float scale = 1;                       ///< 1 / sqrt(d_k) in most models
  std::vector<float> query, key, value;  ///< row-major: (queries, width), (keys, width), (keys, width)
  std::vector<float> scores;             ///< row-major: (queries, keys)

  bool empty() const { return width == 0; }
};

/// The attention of one sentence pair, or of a text (`source`) and the class it was given (`target`). What a
/// model does not have stays empty: a language model has a decoder only, a classifier an encoder only, an RNN
/// cross attention only.
struct Trace {
  std::string model, source, target;
  std::vector<std::string> source_tokens;
  /// What each decoder position produces, end of sentence included: the queries of `decoder` and `cross`.
  std::vector<std::string> target_tokens;
  /// What the decoder has read at each position: the keys of `decoder`. Empty means the usual shift by one:
  /// the start token, then the target tokens without the last .
  std::vector<std::string> decoder_tokens;
  AttentionStack encoder, decoder, cross;
  /// ln P of each target token, given the source and the target before it; empty where it is not known.
  std::vector<float> log_probabilities = {};
  /// The word of each source token, from 0, never falling and never skipping; empty: as the marks of the
  /// tokens ("▁") say. Pieces within these words begin with "##".
  std::vector<int> source_words = {};
  /// [stack][layer][head] in the order of Stack; empty unless asked for.
  std::array<std::vector<std::vector<HeadDetail>>, kStacks.size()> details = {};
  /// True where the one matrix of each layer is the mean over its heads.
  bool heads_averaged = false;
};

}  // namespace heed
