// heed evaluate --alignments: word alignments of a model or of a file against gold alignments.
#pragma once

#include <string>

#include "cli/files/model_lookup.h"
#include "cli/options/command.h"
#include "data/corpus/readers/pairs_reader.h"

namespace heed::cli {

struct AlignmentEvaluation {
  CommonOptions common;
  ModelChoice model;
  std::string gold;        ///< file of gold links, one line per line of the pairs
  std::string hypothesis;  ///< file of links to score; empty: the model aligns the pairs
  PairsInput pairs;  ///< required without `hypothesis`; with it, only used to check the numbers of words
  bool json = false;
};

/// Writes AER, precision, recall and F1 to standard output; returns the exit status. With pairs.swap the gold
/// links are swapped as well. Throws kUsage without pairs and hypothesis, kFormat if the numbers of lines or
/// words of the files differ.
int evaluate_alignments(const AlignmentEvaluation& evaluation);

}  // namespace heed::cli
