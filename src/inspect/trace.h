// Choosing and checking what heed/trace.h holds: plain numbers, no tensors, so that whoever draws, stores or
// measures attention needs nothing else.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/trace.h"

namespace heed {

/// "encoder", "decoder" or "cross".
const char* stack_name(Stack stack);
const AttentionStack& stack_of(const Trace& trace, Stack stack);
AttentionStack& stack_of(Trace& trace, Stack stack);

/// The tokens on the query axis and on the key axis of a stack.
const std::vector<std::string>& query_tokens(const Trace& trace, Stack stack);
std::vector<std::string> key_tokens(const Trace& trace, Stack stack);

/// What `source` and `target` are to people: "source" and "target"; of a classifier, whose target has no
/// tokens, "text" and "class".
std::pair<const char*, const char*> sentence_names(const Trace& trace);

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
