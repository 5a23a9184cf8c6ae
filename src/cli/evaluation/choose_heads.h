// heed align --choose-heads: selects the heads of a model that align best and stores them in its directory.
#pragma once

#include "cli/files/model_lookup.h"
#include "cli/options/command.h"
#include "data/corpus/readers/pairs_reader.h"

namespace heed::cli {

struct HeadChoiceOptions {
  CommonOptions common;
  ModelChoice model;
  PairsInput
      pairs;  ///< some thousands of sentence pairs of the model's domain; gold alignments are not needed
};

/// Learns word alignments from the pairs, selects the heads that agree with them best, and writes
/// alignment_heads to generation_config.json. Returns the exit status. Throws kUsage if the model has no
/// generation_config.json.
int choose_heads(const HeadChoiceOptions& options);

}  // namespace heed::cli
