// Shared by the subcommands that classify: a classifier with its tokenizer, and its evaluation on labelled
// texts.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/model_lookup.h"
#include "decode/text_classifier.h"
#include "models/model_directory.h"
#include "text/wordpiece.h"

namespace heed::cli {

struct ClassifierModel {
  models::LoadedModel loaded;
  WordPieceTokenizer tokenizer;
};

/// Adds the tokenizer to a loaded classifier. Throws kUsage if it is no classifier, kFormat if the tokenizer
/// has more pieces than the model's vocabulary, and the errors of WordPieceTokenizer::load().
ClassifierModel classifier_model(models::LoadedModel loaded);

/// Parses a line: one text, or two separated by a tab.
decode::ClassifierText classifier_text(std::string_view line);

struct ClassifierEvaluation {
  CommonOptions common;
  NamedModel model;
  std::string text;  ///< the file: label TAB text
  bool lossy = false, json = false;
};

/// heed evaluate --task classify; returns the exit status.
int evaluate_classifier(const ClassifierEvaluation& options);

}  // namespace heed::cli
