// heed evaluate: translations by models or in files against references.
#pragma once

#include <string>
#include <vector>

#include "cli/evaluation/evaluation.h"
#include "cli/evaluation/evaluation_report.h"
#include "cli/files/model_lookup.h"
#include "cli/options/command.h"
#include "cli/options/search_flags.h"

namespace heed::cli {

struct TranslationEvaluation {
  CommonOptions common;
  TestSetInput input;
  std::vector<ModelChoice> models;      ///< the systems; each translates all test sets
  std::vector<std::string> hypotheses;  ///< or files of translations of the one test set
  TranslateOptions options;             ///< of the models
  std::string output;  ///< a file for the translations of the one system; empty: they are not kept

  MeasureOptions measure;
  std::vector<std::string> known_words;  ///< files of words that are not invented
  bool invented = false;                 ///< count lines with words that are neither known nor in the source
  bool sentence = false;                 ///< scores of each line instead of the whole test set
  bool json = false;
};

/// Writes the scores to standard output; returns the exit status. Throws kUsage for options that don't fit
/// together, and the errors of reading.
int evaluate_translations(TranslationEvaluation evaluation);

}  // namespace heed::cli
