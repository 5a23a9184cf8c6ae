// The alignment heads of a translation model, from sentence pairs without gold alignments.
#pragma once

#include "base/sequences.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "translate/words/alignment_head_choice.h"

namespace heed::train {

/// Sources and targets: the same number of each, at least one, with end tokens, within the model's maximum
/// length.
struct TokenPairs {
  Sequences sources, targets;
};

/// Trains a word aligner on all pairs (data/align/hmm_aligner.h) and compares heads with its links on about
/// 500 pairs: the intersection of both directions are sure links, those of grow-diag-final-and possible ones.
/// Throws Cancelled.
translate::HeadChoice choose_heads(const models::Seq2Seq& model, const nn::Context& context,
                                   const TokenPairs& pairs, ThreadPool& pool, const Stop& stop = {});

}  // namespace heed::train
