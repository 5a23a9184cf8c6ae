// Selects alignment heads without gold alignments, by agreement with a statistical aligner.
#pragma once

#include <vector>

#include "base/thread_pool.h"
#include "metrics/alignment_score.h"
#include "translate/words/alignment.h"

namespace heed::translate {

/// A sentence pair with end tokens and reference links between tokens.
struct LinkedPair {
  std::vector<int32_t> source, target;
  GoldAlignment links;
};

struct HeadChoice {
  std::vector<models::AlignmentHead> heads;  ///< empty if none is better than the mean of the last layer
  double error_rate = 1;                     ///< token-level AER against the reference links
  double default_error_rate = 1;             ///< of the mean of the last layer, at the predicting step
};

/// Greedy selection: the best single head, then up to three more as long as the mean improves. Throws like
/// soft_alignment().
HeadChoice choose_alignment_heads(const models::Seq2Seq& model, const nn::Context& context,
                                  const std::vector<LinkedPair>& pairs, ThreadPool& pool);

}  // namespace heed::translate
