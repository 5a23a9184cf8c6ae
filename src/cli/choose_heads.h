// heed align --choose-heads: finds the heads of a model that align best, and notes them in its directory.
#pragma once

#include "cli/command.h"
#include "cli/model_lookup.h"
#include "data/pairs_reader.h"

namespace heed::cli {

struct HeadChoiceOptions {
  CommonOptions common;
  ModelChoice model;
  PairsInput pairs;  ///< translations of the kind that the model makes, some thousands; no gold alignments
};

/// Learns word alignments from the pairs, chooses the heads that agree with them, and writes alignment_heads
/// to generation_config.json; returns the exit status. Throws kUsage for a model without that file.
int choose_heads(const HeadChoiceOptions& options);

}  // namespace heed::cli
