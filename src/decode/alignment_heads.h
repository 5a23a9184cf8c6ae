// Which heads of a model align words best, without gold alignments: those that agree most with the links of a
// statistical aligner.
#pragma once

#include <vector>

#include "base/thread_pool.h"
#include "decode/alignment.h"
#include "text/alignment_score.h"

namespace heed::decode {

/// A pair of sentences with their end tokens, and links between their tokens to agree with.
struct LinkedPair {
  std::vector<int32_t> source, target;
  GoldAlignment links;
};

struct HeadChoice {
  std::vector<models::AlignmentHead> heads;  ///< empty: no choice is better than the mean of the last layer
  double error_rate = 1;                     ///< against the links given, between tokens
  double default_error_rate = 1;             ///< of the last layer, at the step that writes a token
};

/// The head that agrees best by itself, and then others, as long as the mean with one more agrees better, up
/// to four. Throws as soft_alignment().
HeadChoice choose_alignment_heads(const models::Seq2Seq& model, const nn::Context& context,
                                  const std::vector<LinkedPair>& pairs, ThreadPool& pool);

}  // namespace heed::decode
