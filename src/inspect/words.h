// Attention between words instead of subword pieces.
//
// The attention of a word is the average over the queries of its pieces; the attention that a word receives
// is the sum over the keys of its pieces (Clark et al., "What does BERT look at?", 2019, section 4.1). So
// rows still sum to 1.
#pragma once

#include <string>
#include <vector>

#include "inspect/trace.h"

namespace heed {

/// The word of each piece, counted from 0: a word begins at a piece marked by "▁", and each special token
/// ("</s>") is a word of its own. Text without spaces (Chinese) is one word to this rule: pass better indices
/// if you have them.
std::vector<int> word_indices(const std::vector<std::string>& tokens);

/// The trace between words; its tokens are then words without marks. `source_words` and `target_words` give
/// the word of each source and target token, from 0, never falling and never skipping. A decoder position
/// reads what the one before produced, so the words of its keys are those of the target behind one start
/// token; the query of a word of several pieces therefore sees the word's own first pieces. Throws kShape
/// where the indices do not fit.
Trace group_by_words(const Trace& trace, const std::vector<int>& source_words,
                     const std::vector<int>& target_words);

/// With the trace's own words, or `word_indices` of the tokens. Tokens are then words of the trace.
Trace group_by_words(const Trace& trace);

}  // namespace heed
