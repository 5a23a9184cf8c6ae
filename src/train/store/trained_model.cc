#include "train/store/trained_model.h"

#include <nlohmann/json.hpp>

#include "base/text/json_file.h"
#include "models/architecture.h"

namespace heed::train {
namespace {

/// The recipe's settings, with dummy values for those that the text determines.
models::ModelSettings trial_settings(const Recipe& recipe) {
  models::ModelSettings settings = recipe.model;
  settings.vocabulary = recipe.from.empty() ? 16 : 1;
  settings.padding_id = 0;
  settings.start_id = 1;
  settings.end_id = 2;
  settings.labels = {"first", "second"};
  return settings;
}

}  // namespace

models::FineTunedModel make_model(const Recipe& recipe, const OutputDirectory& directory,
                                  const models::ModelSettings& settings) {
  const models::Architecture& architecture = models::architecture_named(recipe.arch);
  if (recipe.from.empty()) return {architecture.make(settings), {}};
  return models::read_for_fine_tuning(
      models::ModelDirectory::open(directory.was_begun() ? directory.path() : recipe.from), architecture,
      settings);
}

void require_valid_model(const Recipe& recipe, const OutputDirectory& directory, const CheckedText& text) {
  check_model_settings(recipe);
  const auto trial = make_model(recipe, directory, trial_settings(recipe));
  text.require_fit(*trial.model);
  const JsonObject config = JsonObject::parse(trial.model->config_json().dump(), "the model's config.json");
  models::architecture_named(recipe.arch).read(config);  // as when the model is loaded
  if (!recipe.from.empty() && !directory.was_begun()) models::ModelDirectory::open(recipe.from).weights();
}

}  // namespace heed::train
