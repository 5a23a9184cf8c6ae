// The alignment heads of a translation model, from sentence pairs without gold alignments.
#pragma once

#include "base/sequences.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "decode/alignment_heads.h"

namespace heed::train {

/// Sources and targets, as many of each and at least one, which end with their end tokens and are not longer
/// than the model's positions.
struct TokenPairs {
  Sequences sources, targets;
};

/// Learns word alignments from all pairs (data/hmm_aligner.h), and compares heads with them on some 500:
/// links that both directions find are sure, those of grow-diag-final-and possible. Throws Stopped.
decode::HeadChoice choose_heads(const models::Seq2Seq& model, const nn::Context& context,
                                const TokenPairs& pairs, ThreadPool& pool, const Stop& stop = {});

}  // namespace heed::train
