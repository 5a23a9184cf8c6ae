// Selects the model of a subcommand: a given directory, or a bundled model.
//
// The order is --model, $HEED_MODEL, then the bundled model for --pair. If a given model declares other
// languages than --pair, that is an error. The directories of bundled models are named after their languages
// (de-en). They are found relative to the executable: <prefix>/share/heed/models when installed, models/ of
// the source tree when built there. $HEED_MODELS overrides this folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/command_line.h"
#include "models/directory/loaded_model.h"
#include "tasks/model_files.h"

namespace heed::cli {

struct ModelChoice {
  std::string model;
  std::string pair;                    ///< empty: de-en
  std::string precision;               ///< empty: as the weights are stored
  std::optional<bool> shortlist = {};  ///< empty: as models::LoadOptions has it
  /// Of models with a token for each language; empty: the model's.
  std::string source_language = {}, target_language = {};
};

/// Adds --model and --pair.
void add_model_options(Command& app, ModelChoice& choice);

/// Adds --source-language and --target-language.
void add_language_options(Command& app, ModelChoice& choice);

/// Adds an argument that can be given by position, such as "MODEL", or as an option, such as "--model".
void add_argument(Command& app, const std::string& position, const std::string& option, std::string& value,
                  const std::string& help);
/// Throws kUsage if an argument of add_argument() is missing.
void require_argument(const std::string& value, const std::string& position, const std::string& option);

/// What $HEED_MODEL says, empty if it is unset, and the files of that directory. The second throws the errors
/// of model_directory_at().
std::string default_model();
ModelInventory default_model_directory();

/// For tasks whose model has to be named: with --model or $HEED_MODEL.
struct NamedModel {
  std::string model;
  std::string precision;  ///< as above
};
/// Adds --model.
void add_named_model_option(Command& app, NamedModel& choice);
/// Throws kUsage, with the bundled models for this task, if none is given, and the errors of
/// model_directory_at().
ModelInventory find_named_model(const NamedModel& choice, models::Task task);

/// Adds --precision, for a subcommand that computes with the model.
void add_precision_option(Command& app, std::string& precision);
/// Adds --shortlist, for a subcommand that translates.
void add_shortlist_option(Command& app, std::optional<bool>& shortlist);
/// The options that --precision and --shortlist stand for.
models::LoadOptions load_options(const std::string& precision, std::optional<bool> shortlist = {});
/// Loads a model that was found, in this precision, with or without its vocabulary shortlist.
models::LoadedModel load_model(const models::ModelDirectory& directory, const std::string& precision,
                               std::optional<bool> shortlist = {});
models::LoadedModel load_model(const ModelInventory& files, const std::string& precision,
                               std::optional<bool> shortlist = {});

struct BundledModel {
  std::string pair, directory;
};

/// Sorted by pair; empty if there is no such folder.
std::vector<BundledModel> bundled_models();

/// The directory of the bundled model for a language pair. Throws kUsage, listing the pairs, for another
/// pair, and kNotFound if there are no bundled models.
std::string bundled_model(const std::string& pair);

/// The bundled models that lead from one language of a pair to the other: one, or where there is none, the
/// fewest that do through other languages. Throws the errors of bundled_model() if none do.
std::vector<BundledModel> bundled_chain(const std::string& pair);

/// The files of a path, which must be a model directory. `origin` is the option that gave it. Throws
/// kNotFound, kFile or kFormat.
ModelInventory model_directory_at(const std::string& path, const std::string& origin);
/// Throws the same errors, of a directory that has been listed.
void require_model_directory(const ModelInventory& files, const std::string& origin);

/// The pair whose bundled model is wanted; empty if --model or $HEED_MODEL gives a model directory.
std::string wanted_pair(const ModelChoice& choice);

/// The files of the model, which everything that opens it takes from here. Throws kUsage for a pair without a
/// bundled model; kNotFound, kFile or kFormat for a path that is not a model directory.
ModelInventory find_model(const ModelChoice& choice);
/// The same for a command that goes through several models, in order, where no single bundled model
/// translates the pair.
std::vector<ModelInventory> find_models(const ModelChoice& choice);
/// The same for language models, which have to be named. Throws kUsage if none is.
ModelInventory find_language_model(const ModelChoice& choice);

/// Opens the chosen model for a subcommand that translates. Throws kFormat for an unknown type of model.
models::ModelDirectory open_translation_model(const ModelChoice& choice);
/// The same for the models that find_models() finds.
std::vector<models::ModelDirectory> open_translation_models(const ModelChoice& choice);
/// The same for a model that was found.
models::ModelDirectory open_translation_model(const ModelInventory& files);

using tasks::translation_model;
using tasks::TranslationModel;

/// A model that was loaded, with its tokenizer, in the chosen languages. Throws kUsage for those that it does
/// not have.
TranslationModel translation_model(const ModelChoice& choice, models::LoadedModel loaded);
/// Loads the chosen model. Throws the errors of open_translation_model() and of loading.
TranslationModel load_translation_model(const ModelChoice& choice);
/// The same with the directory that open_translation_model() has opened.
TranslationModel load_translation_model(const ModelChoice& choice, const models::ModelDirectory& directory);
/// The same with those that open_translation_models() has opened.
std::vector<TranslationModel> load_translation_models(const ModelChoice& choice,
                                                      const std::vector<models::ModelDirectory>& directories);

}  // namespace heed::cli
