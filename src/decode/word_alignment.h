// Word alignments from soft token alignments.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/alignment.h"
#include "text/alignment_score.h"

namespace heed::decode {

/// For tokens that belong to no word, such as the end token; and for attached punctuation, such as the full
/// stop of "dog.".
constexpr int kNoWord = -1, kMark = -2;

/// The links of each target word to the source word that its tokens look at, in the order of the target. The
/// numbers give the word of each token, or one of the above. What the model looks at is divided by how much
/// all target tokens look there; the tokens of both words are added up; and of all ways through the source
/// the most probable is taken, where near words follow each other (as in the hidden Markov model of Vogel et
/// al., 1996). A word that looks more at source tokens without a word stays unlinked.
std::vector<WordLink> word_alignment(const SoftAlignment& alignment, const std::vector<int>& source_words,
                                     const std::vector<int>& target_words);

/// Among the words that white space divides a text into, that of each span; kNoWord for empty spans at the
/// end, kMark for spans without a letter or digit in words that have some.
std::vector<int> words_of_spans(std::string_view text, const std::vector<std::pair<size_t, size_t>>& spans);
/// The same, with the word_ends() of the text: for many spans of one long text.
std::vector<int> words_of_spans(std::string_view text, const std::vector<size_t>& ends,
                                const std::vector<std::pair<size_t, size_t>>& spans);
/// Where each word of a text ends, in bytes.
std::vector<size_t> word_ends(std::string_view text);

/// Of the text that the pieces make, the word of each piece; kNoWord for special tokens, which are not in the
/// text, and kMark as above.
std::vector<int> words_of_pieces(const std::vector<std::string>& pieces, const std::vector<bool>& special);

/// "0-0 1-2", in the order of the target words.
std::string to_pharaoh(const std::vector<WordLink>& links);

}  // namespace heed::decode
