// Which model a subcommand works with: the directory that is named, or a bundled model.
//
// The order: --model, $HEED_MODEL, then the bundled model for --pair. A model that is named, and says that
// its languages are others than those of --pair, is an error. Bundled models stand in directories named after
// their languages (de-en), found relative to the executable: <prefix>/share/heed/models beside <prefix>/bin
// where Heed is installed, models/ of the source tree where it was built; or where $HEED_MODELS says.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "models/model_directory.h"

namespace heed::cli {

struct ModelChoice {
  std::string model;
  std::string pair;       ///< empty: de-en
  std::string precision;  ///< empty: as the weights are stored
  std::string shortlist;  ///< "on" or "off"; empty: as models::LoadOptions has it
};

/// Adds --model and --pair.
void add_model_options(Command& app, ModelChoice& choice);

/// For what no model is bundled for: --model or $HEED_MODEL.
struct NamedModel {
  std::string model;
  std::string precision;  ///< as above
};
/// Adds --model.
void add_named_model_option(Command& app, NamedModel& choice);
/// Throws kUsage where none is named, and what model_directory_at() throws.
std::string find_named_model(const NamedModel& choice);

/// Adds --precision, for a subcommand that computes with the model.
void add_precision_option(Command& app, std::string& precision);
/// Adds --shortlist, for a subcommand that searches for translations.
void add_shortlist_option(Command& app, std::string& shortlist);
/// Reads a model for products in this precision, with or without its shortlist.
models::LoadedModel load_model(const std::string& directory, const std::string& precision,
                               const std::string& shortlist = "");

struct BundledModel {
  std::string pair, directory;
};

/// Sorted by pair; none where there is no such folder.
std::vector<BundledModel> bundled_models();

/// `path`, once it is known to be a model's directory; `origin` is the option that named it. Throws
/// kNotFound, kFile or kFormat.
std::string model_directory_at(const std::string& path, const std::string& origin);

/// The directory of the model. Throws kUsage for a pair that no bundled model has, kNotFound, kFile or
/// kFormat for a path that is no model directory.
std::string find_model(const ModelChoice& choice);

/// find_model(), for a subcommand that translates: throws kFormat for a model of another kind, naming it.
std::string find_translation_model(const ModelChoice& choice);

}  // namespace heed::cli
