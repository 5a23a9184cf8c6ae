// A trace as JSON, for other programs and for reading back.
//
// {"version": 1, "model", "source", "target", "source_tokens", "target_tokens", "decoder_tokens", "heads":
// "all" or "mean", "attention": {"encoder", "decoder", "cross"}}; each stack is [layer][head][query][key].
// The queries of decoder and cross are the positions that produce target_tokens; the keys of decoder are
// decoder_tokens, what the decoder had read by then. All three stacks are always there. What was not recorded
// or not chosen is an empty list in its place, so that attention.cross[2][5] is the sixth head of the third
// layer in any such file. A weight is written with the fewest digits that read back as the same float.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "inspect/trace.h"

namespace heed {

/// Throws as check_trace does.
std::string trace_to_json(const Trace& trace);
/// With further members, such as "score", which stand before "attention".
std::string trace_to_json(const Trace& trace, const std::map<std::string, double>& numbers);

/// Reads what trace_to_json writes; unknown keys are passed over, "decoder_tokens" and "heads" may be
/// missing. `origin` names the text in errors. Throws kFormat, and as check_trace does.
Trace trace_from_json(std::string_view json, const std::string& origin);

}  // namespace heed
