// Groups attention by words: averages over the queries of a word's tokens and sums over the keys (Clark et
// al., "What does BERT look at?", 2019, section 4.1), so rows still sum to 1.
#pragma once

#include <string>
#include <vector>

#include "inspect/trace/trace.h"

namespace heed {

/// The word index of each token: a word begins at a token marked by "▁", and each special token ("</s>") is a
/// word. Text without spaces (Chinese) is one word by this rule; pass other indices if available.
std::vector<int> word_indices(const std::vector<std::string>& tokens);

/// Groups a trace by words; its tokens become words without markers. `source_words` and `target_words` are
/// the word indices of the tokens, from 0, nondecreasing and without gaps. A decoder position reads the token
/// of the previous position, so its keys are the start token and the words of the target; the query of a word
/// of several tokens sees the word's own first tokens. Throws kShape for invalid indices.
Trace group_by_words(const Trace& trace, const std::vector<int>& source_words,
                     const std::vector<int>& target_words);

/// Groups by the trace's own words, or by `word_indices` of the tokens. The explorer has the same rule
/// (web/picture/trace.js); both read the cases of tests/data/word_groups.json.
Trace group_by_words(const Trace& trace);

}  // namespace heed
