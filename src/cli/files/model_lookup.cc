#include "cli/files/model_lookup.h"

#include <cstdlib>
#include <filesystem>

#include "base/check.h"
#include "base/files/directory_listing.h"
#include "base/text/json_file.h"
#include "cli/files/marian_directory.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "models/config/precision_names.h"
#include "text/sentences/language_codes.h"
#include "translate/language_steps.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultPair = "de-en";

/// The value of an environment variable, "" if unset.
std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// For the subdirectories of a folder, which may hold anything.
bool is_model(const fs::path& directory) {
  std::error_code ignored;
  return fs::is_regular_file(directory / model_file::kConfig, ignored);
}

/// Candidate folders of bundled models. Build folders are build/ or build/PRESET of the source tree.
std::vector<fs::path> bundle_folders() {
  if (const std::string folder = environment("HEED_MODELS"); !folder.empty()) return {folder};
  std::error_code error;
  const fs::path executable = fs::canonical("/proc/self/exe", error);
  if (error) return {};
  const fs::path bin = executable.parent_path();
  return {bin.parent_path() / "share/heed/models", bin.parent_path().parent_path() / "models",
          bin.parent_path().parent_path().parent_path() / "models"};
}

std::vector<BundledModel> models_in(const fs::path& folder) {
  std::vector<BundledModel> found;
  std::error_code error;
  for (const std::string& name : names_in(folder, error)) {
    if (is_model(folder / name)) found.push_back({name, folder / name});
  }
  return found;
}

std::string join_pairs(const std::vector<BundledModel>& models, const char* between = ", ") {
  std::vector<std::string> pairs;
  for (const BundledModel& model : models) pairs.push_back(model.pair);
  return fmt::format("{}", fmt::join(pairs, between));
}

bool is_pair(const std::string& name) {
  const size_t dash = name.find('-');
  return dash != std::string::npos && dash > 0 && dash + 1 < name.size();
}

/// A pair by the tags of its languages: "de-en" for "DE-EN", "de_DE-en_US" and "deu-eng". A pair of one
/// language in two codes, such as "zh_CN-zh_TW", keeps them apart.
std::string tags_of_pair(const std::string& pair) {
  const auto [source, target] = split_pair(pair);
  return language_tag(source) + "-" + language_tag(target);
}

/// The bundled models that lead from one language of a pair to the other; empty if none do.
std::vector<BundledModel> chain_of(const std::vector<BundledModel>& models, const std::string& pair) {
  std::vector<translate::LanguageStep> steps;
  for (size_t n = 0; n < models.size(); ++n) {
    if (!is_pair(models[n].pair)) continue;
    const auto [source, target] = split_pair(tags_of_pair(models[n].pair));
    steps.push_back({source, target, n});
  }
  const auto [source, target] = split_pair(tags_of_pair(pair));
  std::vector<BundledModel> chain;
  for (const auto& step : translate::LanguageSteps(steps).between(source, target)) {
    chain.push_back(models[step.model]);
  }
  return chain;
}

/// Throws kUsage if the model declares other languages.
void require_pair(const ModelInventory& files, const std::string& pair) {
  const std::string wanted = tags_of_pair(pair);
  if (!files.has(model_file::kTokenizerConfig)) return;
  const JsonObject config = JsonObject::read(files.path(model_file::kTokenizerConfig));
  const std::string source = config.string("source_lang", ""), target = config.string("target_lang", "");
  if (source.empty() || target.empty() || language_tag(source) + "-" + language_tag(target) == wanted) return;
  fail(ErrorKind::kUsage,
       "--pair {}: the model in '{}' is for {}-{}; leave out --pair, or give another model", pair,
       files.directory(), shown(source), shown(target));
}

}  // namespace

void add_model_options(Command& app, ModelChoice& choice) {
  app.add_option("--model DIR", choice.model,
                 "Model directory [default: $HEED_MODEL, or the bundled model for --pair]");
  app.add_option("--pair PAIR", choice.pair, "Language pair of the bundled model [default: de-en]");
}

void add_argument(Command& app, const std::string& position, const std::string& option, std::string& value,
                  const std::string& help) {
  Option* by_position = app.add_option(position, value, help);
  app.add_option(option + " DIR", value, fmt::format("The same as {}", position))->excludes(by_position);
}

void require_argument(const std::string& value, const std::string& position, const std::string& option) {
  if (value.empty())
    fail(ErrorKind::kUsage, "{} is missing: give it by position, or as {}", position, option);
}

void add_language_options(Command& app, ModelChoice& choice) {
  app.group(kModelOptions);
  app.add_option("--source-language CODE", choice.source_language,
                 "Source language of a model with a token for each language (NLLB, M2M-100, mBART), such as "
                 "eng_Latn [default: the model's]");
  app.add_option("--target-language CODE", choice.target_language,
                 "Target language of such a model, or of one with codes such as >>fra<< (fra) [default: the "
                 "model's]");
}

void add_named_model_option(Command& app, NamedModel& choice) {
  app.add_option("--model DIR", choice.model, "Model directory [default: $HEED_MODEL]");
}

void add_precision_option(Command& app, std::string& precision) {
  app.group(kModelOptions);
  add_choice(app, "--precision TYPE", precision,
             "Precision of matrix products: float32; int8, which is faster and slightly less accurate; int4, "
             "which is faster than int8 only where a language model decodes, and less accurate; or bfloat16, "
             "which is between float32 and int8 and for processors with AVX512-BF16 or AMX "
             "[default: as stored]",
             models::precision_names());
}

void add_shortlist_option(Command& app, std::optional<bool>& shortlist) {
  app.group(kModelOptions);
  app.add_switch(
      "--shortlist", shortlist,
      "Restrict the target vocabulary to the shortlist of each source sentence (see heed shortlist) "
      "[default: on for int8 and int4 with --beam 1 if the model has a shortlist]");
}

models::LoadOptions load_options(const std::string& precision, std::optional<bool> shortlist) {
  models::LoadOptions options;
  options.precision = models::precision_named(precision);
  options.shortlist = shortlist;
  return options;
}

models::LoadedModel load_model(const models::ModelDirectory& directory, const std::string& precision,
                               std::optional<bool> shortlist) {
  return models::load_model(directory, load_options(precision, shortlist));
}

models::LoadedModel load_model(const ModelInventory& files, const std::string& precision,
                               std::optional<bool> shortlist) {
  return load_model(models::ModelDirectory::open(files), precision, shortlist);
}

namespace {

bool is_for(const BundledModel& model, models::Task task) {
  try {
    return models::ModelDirectory::open(model.directory).create_model()->task() == task;
  } catch (const Error&) {
    return false;  // the folder may hold anything
  }
}

/// Throws the error for a command that was given no model; `advice` says where else to get one.
[[noreturn]] void fail_without_named_model(models::Task task, const std::string& advice = "") {
  std::vector<std::string> bundled;
  for (const BundledModel& model : bundled_models()) {
    if (is_for(model, task)) bundled.push_back("--model " + model.directory);
  }
  fail(ErrorKind::kUsage, "this command needs a model: give one with --model DIR or $HEED_MODEL{}{}", advice,
       bundled.empty() ? "; none for its task is bundled"
                       : fmt::format("; bundled: {}", fmt::join(bundled, ", ")));
}

}  // namespace

std::string default_model() {
  return environment("HEED_MODEL");
}

ModelInventory default_model_directory() {
  return model_directory_at(default_model(), "$HEED_MODEL");
}

ModelInventory find_named_model(const NamedModel& choice, models::Task task) {
  if (!choice.model.empty()) return model_directory_at(choice.model, "--model");
  if (default_model().empty()) fail_without_named_model(task);
  return default_model_directory();
}

namespace {

/// Throws the error for a pair that no bundled model translates.
[[noreturn]] void fail_without_model(std::vector<BundledModel> models, const std::string& pair) {
  split_pair(pair);
  std::erase_if(models, [](const BundledModel& model) { return !is_pair(model.pair); });
  const std::string advice =
      "give a model with --model DIR or $HEED_MODEL (heed convert reads those of Hugging Face, Marian and "
      "CTranslate2), or train one with heed train";
  if (models.empty()) {
    std::vector<std::string> folders;
    for (const fs::path& folder : bundle_folders()) folders.push_back(folder.string());
    fail(ErrorKind::kNotFound, "no bundled models in {}: {}", fmt::join(folders, " or "), advice);
  }
  const std::vector<BundledModel> chain = chain_of(models, pair);
  if (!chain.empty()) {
    fail(ErrorKind::kUsage,
         "no single bundled model translates '{}', and this command needs one: choose --pair {}; heed "
         "translate, evaluate and serve go through all of them",
         pair, join_pairs(chain, " or --pair "));
  }
  fail(ErrorKind::kUsage, "no bundled model for '{}'; available pairs: {}; choose one of them, {}", pair,
       join_pairs(models), advice);
}

/// The bundled model for exactly this pair; null if there is none. Throws kUsage for the name of a bundled
/// model that is not a pair.
const BundledModel* direct_model(const std::vector<BundledModel>& models, const std::string& pair) {
  const std::string tags = is_pair(pair) ? tags_of_pair(pair) : pair;
  for (const BundledModel& model : models) {
    if (model.pair != pair && model.pair != tags) continue;
    if (is_pair(pair)) return &model;
    fail(ErrorKind::kUsage,
         "--pair takes two languages, such as de-en; to use the bundled model '{}', give --model {}", pair,
         model.directory);
  }
  return nullptr;
}

}  // namespace

std::string bundled_model(const std::string& pair) {
  const std::vector<BundledModel> models = bundled_models();
  const BundledModel* model = direct_model(models, pair);
  if (model == nullptr) fail_without_model(models, pair);
  return model->directory;
}

std::vector<BundledModel> bundled_chain(const std::string& pair) {
  const std::vector<BundledModel> models = bundled_models();
  if (const BundledModel* model = direct_model(models, pair)) return {*model};
  std::vector<BundledModel> chain;
  if (is_pair(pair)) chain = chain_of(models, pair);
  if (chain.empty()) fail_without_model(models, pair);
  return chain;
}

std::vector<BundledModel> bundled_models() {
  for (const fs::path& folder : bundle_folders()) {
    std::vector<BundledModel> models = models_in(folder);
    if (!models.empty()) return models;
  }
  return {};
}

namespace {

/// For a path that does not exist, the bundled model of that name, if there is one: "models/rnn" is there in
/// a clone of the sources only.
std::string bundled_instead(const std::string& path) {
  const fs::path wanted = fs::path(path) / "";
  for (const BundledModel& model : bundled_models()) {
    if (model.pair == wanted.parent_path().filename()) {
      return fmt::format("; the bundled one is --model {}", model.directory);
    }
  }
  return "";
}

}  // namespace

ModelInventory model_directory_at(const std::string& path, const std::string& origin) {
  ModelInventory files(path);
  require_model_directory(files, origin);
  return files;
}

void require_model_directory(const ModelInventory& files, const std::string& origin) {
  const std::string& path = files.directory();
  if (!files.exists()) {
    fail(ErrorKind::kNotFound,
         "{}: '{}' does not exist; give the directory that contains the model's config.json{}", origin, path,
         bundled_instead(path));
  }
  if (!files.is_directory()) {
    fail(ErrorKind::kFile, "{}: '{}' is a file; give the model directory", origin, path);
  }
  if (files.has(model_file::kConfig)) return;
  if (is_marian_model(files)) {
    fail(ErrorKind::kFormat, "{}: '{}' is a model of Marian: convert it with heed convert '{}' NEW", origin,
         path, path);
  }
  const std::vector<BundledModel> inside = models_in(path);
  fail(ErrorKind::kFormat, "{}: '{}' is not a model directory: it has no config.json{}", origin, path,
       inside.empty() ? "" : fmt::format("; these subdirectories have one: {}", join_pairs(inside)));
}

std::string wanted_pair(const ModelChoice& choice) {
  if (!choice.model.empty() || !default_model().empty()) return "";
  return choice.pair.empty() ? kDefaultPair : choice.pair;
}

ModelInventory find_model(const ModelChoice& choice) {
  if (const std::string pair = wanted_pair(choice); !pair.empty()) return ModelInventory(bundled_model(pair));
  ModelInventory files =
      choice.model.empty() ? default_model_directory() : model_directory_at(choice.model, "--model");
  if (!choice.pair.empty()) require_pair(files, choice.pair);
  return files;
}

std::vector<ModelInventory> find_models(const ModelChoice& choice) {
  const std::string pair = wanted_pair(choice);
  if (pair.empty()) return {find_model(choice)};
  std::vector<ModelInventory> files;
  for (const BundledModel& model : bundled_chain(pair)) files.emplace_back(model.directory);
  const bool chooses_language = !choice.source_language.empty() || !choice.target_language.empty();
  if (files.size() > 1 && chooses_language) {
    fail(
        ErrorKind::kUsage,
        "--pair {} goes through several models, and --source-language and --target-language choose languages "
        "of one: leave them out",
        pair);
  }
  return files;
}

ModelInventory find_language_model(const ModelChoice& choice) {
  if (choice.model.empty() && default_model().empty()) {
    fail_without_named_model(models::Task::kLanguageModel, ", or train one with heed train --task lm");
  }
  return find_model(choice);
}

models::ModelDirectory open_translation_model(const ModelChoice& choice) {
  return open_translation_model(find_model(choice));
}

models::ModelDirectory open_translation_model(const ModelInventory& files) {
  models::ModelDirectory directory = models::ModelDirectory::open(files);
  const std::string type = directory.config().string("model_type");
  if (models::architecture_of_type(type) != nullptr) return directory;
  fail(ErrorKind::kFormat, "'{}' is a model of type '{}', not a translation model ({}): give another --model",
       directory.path(), shown(type), fmt::join(models::known_model_types(models::Task::kTranslation), ", "));
}

std::vector<models::ModelDirectory> open_translation_models(const ModelChoice& choice) {
  std::vector<models::ModelDirectory> directories;
  for (const ModelInventory& files : find_models(choice)) {
    directories.push_back(open_translation_model(files));
  }
  return directories;
}

std::vector<TranslationModel> load_translation_models(
    const ModelChoice& choice, const std::vector<models::ModelDirectory>& directories) {
  std::vector<TranslationModel> models;
  for (const models::ModelDirectory& directory : directories) {
    models.push_back(load_translation_model(choice, directory));
  }
  return models;
}

TranslationModel load_translation_model(const ModelChoice& choice) {
  return load_translation_model(choice, open_translation_model(choice));
}

TranslationModel load_translation_model(const ModelChoice& choice, const models::ModelDirectory& directory) {
  return translation_model(choice, load_model(directory, choice.precision, choice.shortlist));
}

TranslationModel translation_model(const ModelChoice& choice, models::LoadedModel loaded) {
  TranslationModel model = translation_model(std::move(loaded));
  if (!choice.source_language.empty() || !choice.target_language.empty()) {
    choose_languages(model, choice.source_language, choice.target_language);
  }
  return model;
}

}  // namespace heed::cli
