// What a model attended to: plain numbers and the tokens they belong to, with no tensors, so that whoever
// draws, stores or measures attention needs nothing else.
//
// For one head, weights[query][key] is the share of the query's attention that a key receives:
//   softmax(Q K^T / sqrt(d_k) + mask), each row summing to 1 (Vaswani et al., "Attention is all you need",
//   2017).
#pragma once

#include <array>
#include <optional>
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

/// The attention of one sentence pair. What a model does not have stays empty: a language model has a decoder
/// only, a classifier an encoder only, an RNN cross attention only.
struct Trace {
  std::string model, source, target;
  std::vector<std::string> source_tokens;
  /// What each decoder position produces, end of sentence included: the queries of `decoder` and `cross`.
  std::vector<std::string> target_tokens;
  /// What the decoder has read at each position: the keys of `decoder`. Empty means the usual shift by one:
  /// the start token, then the target tokens without the last (see `key_tokens`).
  std::vector<std::string> decoder_tokens;
  AttentionStack encoder, decoder, cross;
  /// True where the one matrix of each layer is the mean over its heads.
  bool heads_averaged = false;
};

/// "encoder", "decoder" or "cross".
const char* stack_name(Stack stack);
const AttentionStack& stack_of(const Trace& trace, Stack stack);
AttentionStack& stack_of(Trace& trace, Stack stack);

/// The tokens on the query axis and on the key axis of a stack.
const std::vector<std::string>& query_tokens(const Trace& trace, Stack stack);
std::vector<std::string> key_tokens(const Trace& trace, Stack stack);

/// Throws kShape where a matrix does not fit the tokens, kNumeric where a weight is not a number from 0 to 1,
/// and kUsage where there is no attention at all. Every renderer calls it first.
void check_trace(const Trace& trace);

/// What to look at. Layers and heads count from 0 here, from 1 in all that people read and write.
struct AttentionSelection {
  std::optional<Stack> stack;      ///< none: every stack
  std::optional<int> layer, head;  ///< none: every one
  bool mean = false;               ///< the mean over the heads of each layer instead of the heads
};

/// Reads what a person writes: stack "encoder", "decoder", "cross" or "all"; layer a number from 1 or "all";
/// head a number from 1, "all" or "mean". Throws kUsage.
AttentionSelection parse_selection(const std::string& stack, const std::string& layer,
                                   const std::string& head);

/// The trace without what was not chosen (indices keep their meaning). Throws kUsage where a chosen stack,
/// layer or head does not exist, naming those there are.
Trace select(const Trace& trace, const AttentionSelection& selection);

/// One matrix per layer: the mean over its heads. Rows still sum to 1.
Trace mean_over_heads(const Trace& trace);

}  // namespace heed
