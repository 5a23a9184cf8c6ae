// What the subcommands that classify share: a model ready to be used, and how well it does on a file of
// labelled texts.
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

/// A classifier that was read, with its tokenizer. Throws kUsage for another kind of model, what reading the
/// tokenizer throws, and kFormat where it has more pieces than the model.
ClassifierModel classifier_model(models::LoadedModel loaded);

/// A line, with a tab between the two texts of a pair.
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
