// Word alignments from soft token alignments.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/alignment_score.h"
#include "translate/words/alignment.h"

namespace heed::translate {

/// Word indices of tokens outside of words, such as the end token, and of attached punctuation, such as the
/// full stop of "dog.".
constexpr int kNoWord = -1, kMark = -2;

/// Links each target word to at most one source word; sorted by target word. `source_words` and
/// `target_words` have the word index of each token, or one of the above. The attention to each source token
/// is normalized by its sum over the target tokens, then summed over the tokens of both words. Of all paths
/// through the source words, the Viterbi path is taken, with a jump model that favours adjacent words (like
/// the hidden Markov model of Vogel et al., 1996). A word with more attention to source tokens outside of
/// words stays unlinked.
std::vector<WordLink> word_alignment(const SoftAlignment& alignment, const std::vector<int>& source_words,
                                     const std::vector<int>& target_words);

/// The index of the white-space separated word that contains each span; kNoWord for empty spans at the end,
/// kMark for spans without letters or digits in words that have some.
std::vector<int> words_of_spans(std::string_view text, const std::vector<std::pair<size_t, size_t>>& spans);
/// The same, given word_ends() of the text.
std::vector<int> words_of_spans(std::string_view text, const std::vector<size_t>& ends,
                                const std::vector<std::pair<size_t, size_t>>& spans);
/// The end of each word of a text, in bytes.
std::vector<size_t> word_ends(std::string_view text);

/// The word index of each piece in the text of all pieces; kNoWord for special tokens, which are not in the
/// text, and kMark as above.
std::vector<int> words_of_pieces(const std::vector<std::string>& pieces, const std::vector<bool>& special);

/// Pharaoh format, "0-0 1-2", sorted by target word.
std::string to_pharaoh(const std::vector<WordLink>& links);

}  // namespace heed::translate
