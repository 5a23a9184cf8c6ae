// The token that --query of heed attend selects.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "inspect/trace/trace.h"

namespace heed::cli {

/// The index of a token: "7" is the seventh, "Hund" the first of that name, "Hund:2" the second. Warns of
/// several tokens of that name unless `quiet`. Throws kUsage, listing the tokens, if there is none.
size_t find_query(const std::string& query, const std::vector<std::string>& tokens, bool quiet);

/// Whether the query names a word of several tokens, and not a single token.
bool names_a_word(const std::string& query, const AttentionSelection& selection, const Trace& trace);

}  // namespace heed::cli
