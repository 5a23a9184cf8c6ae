// heed evaluate --alignments: word alignments of a model or of a file against gold alignments.
#pragma once

#include <string>

#include "cli/command.h"
#include "cli/model_lookup.h"
#include "data/pairs_reader.h"

namespace heed::cli {

struct AlignmentEvaluation {
  CommonOptions common;
  ModelChoice model;
  std::string gold;        ///< a file of gold links, a line for each line of the pairs
  std::string hypothesis;  ///< a file of links to be scored; empty: the model aligns the pairs
  PairsInput pairs;        ///< needed to align; with `hypothesis` only to check the numbers of words
  bool json = false;
};

/// Writes AER, precision, recall and F1 to standard output; returns the exit status. With pairs.swap the gold
/// links are turned round as well. Throws kUsage without pairs or hypothesis, kFormat for files that do not
/// fit each other.
int evaluate_alignments(const AlignmentEvaluation& evaluation);

}  // namespace heed::cli
