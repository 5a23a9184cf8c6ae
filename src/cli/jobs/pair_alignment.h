// Word alignments of sentence pairs, for the subcommands that write or score them.
#pragma once

#include <vector>

#include "base/thread_pool.h"
#include "cli/jobs/sentence_pairs.h"
#include "translate/words/word_alignment.h"

namespace heed::cli {

/// The links of each pair, in order. Throws kUsage for a pair longer than the model's maximum, and
/// Cancelled when interrupted.
std::vector<std::vector<WordLink>> align_pairs(const TranslationModel& model, const NumberedPairs& pairs,
                                               const translate::AlignmentOptions& options, ThreadPool& pool);

}  // namespace heed::cli
