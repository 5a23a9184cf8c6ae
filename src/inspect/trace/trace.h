// Validates traces (heed/trace.h) and selects stacks, layers and heads. A trace contains plain numbers, so
// rendering, storage and metrics do not depend on tensors.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/trace.h"

namespace heed {

const StackWeights& stack_of(const Trace& trace, Stack stack);
StackWeights& stack_of(Trace& trace, Stack stack);

/// Whether the trace is of a language model.
bool is_decoder_only(const Trace& trace);

/// The tokens of the query axis and of the key axis of a stack. The queries of a language model are the
/// tokens that it reads; those of a translation's decoder are the tokens that it produces.
const std::vector<std::string>& query_tokens(const Trace& trace, Stack stack);
std::vector<std::string> key_tokens(const Trace& trace, Stack stack);

/// Which text the tokens of the query axis and of the key axis are of: "source", "target" or "text".
std::pair<const char*, const char*> axis_texts(const Trace& trace, Stack stack);

/// Display names of `source` and `target`: "source" and "target", or "text" and "class" for a classifier,
/// whose target has no tokens.
std::pair<const char*, const char*> sentence_names(const Trace& trace);

/// Throws kShape if a matrix or the details of a head do not match the tokens, kNumeric if a weight is not in
/// [0, 1], and kUsage if there is no attention. Called by every renderer.
void check_trace(const Trace& trace);

/// A selection of stack, layer and head. Indices count from 0 here, and from 1 in user input and output.
struct AttentionSelection {
  std::optional<Stack> stack;      ///< empty: all
  std::optional<int> layer, head;  ///< empty: all
  bool mean = false;               ///< the mean over the heads of each layer instead of the heads
};

/// Parses user input: stack "encoder", "decoder", "cross" or "all"; layer a number from 1 or "all"; head a
/// number from 1, "all" or "mean". Throws kUsage.
AttentionSelection parse_selection(const std::string& stack, const std::string& layer,
                                   const std::string& head);

/// Removes everything that is not selected (indices keep their meaning). Throws kUsage if the stack, layer or
/// head does not exist, with the available ones.
Trace select(const Trace& trace, const AttentionSelection& selection);

/// One matrix per layer: the mean over its heads. Rows still sum to 1.
Trace mean_over_heads(const Trace& trace);

/// The layer, from 0, to show where none is chosen: the last one of an encoder and of a decoder that
/// translates. Of cross-attention and of language models the one that points most clearly at words: averaged
/// over its heads, it has the largest weights on single keys, averaged over queries. Keys that only take what
/// is left over do not count: the end token in cross-attention, and in a language model the first token and
/// the query's own. -1 without layers. The explorer has the same rule (web/picture/trace.js); both read the
/// cases of tests/data/default_layers.json.
int default_layer(const Trace& trace, Stack stack);

}  // namespace heed
