// Where a glossary term belongs in a translation that lacks it: in place of the words that are aligned with
// the source term.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "translate/words/alignment.h"

namespace heed::translate {

struct TokenRange {
  size_t begin = 0, end = 0;
};

/// The target word that attends most to the marked source tokens, and its neighbours that attend mostly to
/// them as well. `target_words` has the word of each target token (word_alignment.h). Empty if no word has at
/// least 0.2 of its attention there.
std::optional<TokenRange> aligned_words(const SoftAlignment& alignment,
                                        const std::vector<bool>& source_tokens,
                                        const std::vector<int>& target_words);

}  // namespace heed::translate
