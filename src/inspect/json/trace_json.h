// Writes traces as JSON.
//
// {"version": 1, "model", "source", "target", "source_tokens", "target_tokens", "decoder_tokens", "heads":
// "all" or "mean", "attention": {"encoder", "decoder", "cross"}}; each stack is [layer][head][query][key].
// The queries of decoder and cross are the positions that produce target_tokens; the keys of decoder are
// decoder_tokens, the decoder input, which in a language model also name its queries. All three stacks are
// always present. Stacks, layers and heads that were not recorded or selected are empty lists, so that
// attention.cross[2][5] is always the sixth head of the third layer. Weights have the fewest digits that
// round-trip to the same float.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inspect/trace/trace.h"

namespace heed {

/// Throws like check_trace.
std::string trace_to_json(const Trace& trace);
/// Further members, which stand before "attention".
struct TraceNotes {
  std::map<std::string, double> numbers = {};               ///< such as "score"
  std::optional<std::vector<std::string>> warnings = {};    ///< what the translation says otherwise
  std::optional<std::vector<double>> word_confidence = {};  ///< of the words of the translation
};
std::string trace_to_json(const Trace& trace, const TraceNotes& notes);

}  // namespace heed
