// Shared by the subcommands that classify: a classifier with its tokenizer, and its evaluation on labelled
// texts.
#pragma once

#include <string>

#include "cli/files/model_lookup.h"
#include "cli/options/command.h"
#include "tasks/model_files.h"
#include "tasks/text_classifier.h"

namespace heed::cli {

using tasks::classifier_model;
using tasks::EncoderModel;

using tasks::classifier_text;

struct ClassifierEvaluation {
  CommonOptions common;
  NamedModel model;
  std::string text;  ///< the file: label TAB text
  bool lossy = false, json = false;
};

/// heed evaluate --task classify; returns the exit status.
int evaluate_classifier(const ClassifierEvaluation& options);

}  // namespace heed::cli
