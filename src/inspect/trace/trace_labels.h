// The labels of the queries and keys of a trace, for pictures and the terminal; the explorer has the same
// (web/picture/trace.js).
#pragma once

#include <string_view>
#include <vector>

#include "inspect/trace/label.h"
#include "inspect/trace/trace.h"

namespace heed {

/// Like token_labels.
std::vector<Label> query_labels(const Trace& trace, Stack stack, std::string_view word_mark);

/// Like token_labels. The token with which the decoder of a translation begins is "⟨start⟩", whatever the
/// model takes for it: Marian's and T5's is the padding token.
std::vector<Label> key_labels(const Trace& trace, Stack stack, std::string_view word_mark);

}  // namespace heed
