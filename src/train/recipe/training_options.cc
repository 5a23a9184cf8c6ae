#include "train/recipe/training_options.h"

#include <filesystem>

#include "base/files/file.h"
#include "base/text/option_error.h"
#include "train/recipe/recipe_fields.h"
#include "train/recipe/recipe_settings.h"
#include "train/store/output_directory.h"

namespace heed::train {
namespace {

/// A training that has begun no longer needs the model that it began with: what a recipe takes from it is in
/// the recorded one.
void replace_lost_source(const std::string& output, std::vector<Setting>& settings) {
  const std::string from = path_of_source(settings);
  const OutputDirectory directory(output);
  if (from.empty() || std::filesystem::exists(from) || !directory.was_begun()) return;
  const std::vector<Setting> recorded = directory.recorded_settings();
  for (const char* key : {kArchitecture, kMaxLength, kBlockSize}) {
    const Setting* before = find_setting(recorded, key);
    if (before != nullptr && find_setting(settings, key) == nullptr) settings.push_back(*before);
  }
}

Recipe recipe_of(const TrainOptions& o, const std::vector<Setting>& settings) {
  std::vector<Setting> all;
  if (!o.recipe.empty()) {
    const std::string folder = std::filesystem::path(o.recipe).parent_path();
    all = read_settings(read_input(o.recipe), o.recipe, folder);
  }
  all.insert(all.end(), settings.begin(), settings.end());
  replace_lost_source(o.output, all);
  Recipe recipe = make_recipe(o.preset, o.task, all);
  if (!o.pairs.empty() || !o.source.empty() || !o.target.empty()) recipe.corpora.clear();
  if (o.pairs.size() > 1) {
    for (const std::string& pairs : o.pairs) {
      recipe.corpora.push_back({.pairs = absolute_path_of({"corpus.pairs", pairs, "the training data"})});
    }
  }
  return recipe;
}

/// "de-en" -> de, en
void set_languages(const std::string& languages, TrainerOptions& options) {
  if (languages.empty()) return;
  const size_t dash = languages.find('-');
  if (dash == std::string::npos || dash == 0 || dash + 1 == languages.size()) {
    fail_option("$languages must be two, such as de-en, not '{}'", languages);
  }
  options.source_language = languages.substr(0, dash);
  options.target_language = languages.substr(dash + 1);
}

}  // namespace

TrainerOptions trainer_options(const TrainOptions& o, const std::vector<Setting>& settings) {
  if (!o.pairs.empty() && (!o.source.empty() || !o.target.empty())) {
    fail_option("$pairs, and $source with $target, exclude each other: give one of them");
  }
  TrainerOptions options;
  options.output = o.output;
  const LineReaderOptions lines{.lossy = o.lossy};
  const std::string pairs = o.pairs.size() == 1 ? o.pairs[0] : "";  // several are corpora of the recipe
  options.data = {{pairs, o.source, o.target, o.swap, lines}, o.text, lines};
  options.validation = {{o.valid_pairs, o.valid_source, o.valid_target, o.swap, lines}, o.valid_text, lines};
  options.recipe = recipe_of(o, settings);
  options.max_steps = o.max_steps;
  options.max_minutes = o.max_minutes;
  options.max_epochs = o.max_epochs;
  set_languages(o.languages, options);
  return options;
}

}  // namespace heed::train
