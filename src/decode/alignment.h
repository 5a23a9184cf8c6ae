// Which source word each word of a translation comes from, as the model's attention has it.
//
// The decoder's attention to the memory, averaged over the heads of a layer, is read as a soft alignment
// (Bahdanau et al., 2015; for Transformers, Garg et al., "Jointly learning to align and translate", 2019). It
// is taken from a pass over the finished translation, so that the search itself has nothing to do with it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/seq2seq.h"
#include "text/alignment_score.h"
#include "text/tokenizer.h"

namespace heed::decode {

struct AlignmentOptions {
  int layer = -1;  ///< of the decoder, from 0; negative ones count from the last
};

/// (target tokens, source tokens): row t is where the model looked when it produced token t, and sums to 1.
struct SoftAlignment {
  int64_t targets = 0, sources = 0;
  std::vector<float> weights;
  float at(int64_t target, int64_t source) const { return weights[target * sources + source]; }
};

/// Of a source and a translation, both with their end tokens. Throws kUsage for a layer that the model does
/// not have, and where it has no such attention at all.
SoftAlignment soft_alignment(const models::Seq2Seq& model, const nn::Context& context,
                             const std::vector<int32_t>& source, const std::vector<int32_t>& target,
                             const AlignmentOptions& options = {});

/// For each target word the source word that its pieces look at most. The indices give the word of each
/// token; -1 for tokens that are none, such as the end.
std::vector<WordLink> word_alignment(const SoftAlignment& alignment, const std::vector<int>& source_words,
                                     const std::vector<int>& target_words);

/// Among the words that white space divides a text into, that of each span; -1 for empty spans at the end.
std::vector<int> words_of_spans(std::string_view text, const std::vector<std::pair<size_t, size_t>>& spans);
/// The same, with the word_ends() of the text: for many spans of one long text.
std::vector<int> words_of_spans(std::string_view text, const std::vector<size_t>& ends,
                                const std::vector<std::pair<size_t, size_t>>& spans);
/// Where each word of a text ends, in bytes.
std::vector<size_t> word_ends(std::string_view text);

/// Of the text that the pieces make, the word of each piece; -1 for special tokens, which are not in the
/// text.
std::vector<int> words_of_pieces(const std::vector<std::string>& pieces, const std::vector<bool>& special);

/// "0-0 1-2", in the order of the target words.
std::string to_pharaoh(const std::vector<WordLink>& links);

}  // namespace heed::decode
