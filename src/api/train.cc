#include "heed/train.h"

#include <filesystem>

#include "api/checks.h"
#include "base/file.h"
#include "train/trainer.h"

namespace heed {
namespace {

bool names_pairs(const TrainOptions& o) {
  return !o.pairs.empty() || !o.source.empty() || !o.target.empty();
}

/// Settings in the order in which they apply.
train::Recipe recipe_of(const TrainOptions& o) {
  std::vector<train::Setting> settings;
  if (!o.recipe.empty()) {
    const std::string folder = std::filesystem::path(o.recipe).parent_path();
    settings = train::read_settings(read_input(o.recipe), o.recipe, folder);
  }
  for (const auto& [key, value] : o.settings) settings.push_back({key, value, "settings"});
  train::Recipe recipe = train::make_recipe(o.preset, o.task, settings);
  if (names_pairs(o)) {
    recipe.corpora.clear();
    for (const std::string& pairs : o.pairs) {
      if (o.pairs.size() > 1) recipe.corpora.push_back({.pairs = std::filesystem::absolute(pairs)});
    }
  }
  return recipe;
}

void require_limits(const TrainOptions& o) {
  if (o.output.empty()) fail(ErrorKind::kUsage, "TrainOptions: output must name the model directory");
  if (o.max_steps < 0 || !(o.max_minutes >= 0) || !(o.max_epochs >= 0)) {
    fail(ErrorKind::kUsage,
         "TrainOptions: max_steps, max_minutes and max_epochs must be at least 0, not {}, {} and {}",
         o.max_steps, o.max_minutes, o.max_epochs);
  }
  if (o.pairs.size() > 1 && (!o.source.empty() || !o.target.empty())) {
    fail(ErrorKind::kUsage,
         "TrainOptions: pairs, and source with target, exclude each other: give one of them");
  }
}

/// "de-en" -> de, en
void set_languages(const std::string& languages, train::TrainerOptions& options) {
  if (languages.empty()) return;
  const size_t dash = languages.find('-');
  if (dash == std::string::npos || dash == 0 || dash + 1 == languages.size()) {
    fail(ErrorKind::kUsage, "TrainOptions: languages must be two, such as de-en, not '{}'", languages);
  }
  options.source_language = languages.substr(0, dash);
  options.target_language = languages.substr(dash + 1);
}

TrainStep step_of(const train::Metrics& m) {
  TrainStep step;
  step.step = m.step;
  step.loss = m.loss;
  step.learning_rate = m.learning_rate;
  step.gradient_norm = m.gradient_norm;
  step.target_tokens = m.target_tokens;
  step.target_tokens_per_second = m.target_tokens_per_second;
  step.seconds = m.seconds;
  step.epochs = m.epochs;
  step.valid_loss = m.valid_loss;
  for (const train::Score& score : m.scores) step.scores.emplace_back(score.name, score.value);
  step.best = m.best;
  return step;
}

TrainEnd end_of(train::TrainingEnd end) {
  switch (end) {
    case train::TrainingEnd::kMinutes:
      return TrainEnd::kMinutes;
    case train::TrainingEnd::kEpochs:
      return TrainEnd::kEpochs;
    case train::TrainingEnd::kPatience:
      return TrainEnd::kPatience;
    case train::TrainingEnd::kStopped:
      return TrainEnd::kCancelled;
    case train::TrainingEnd::kSteps:
      break;
  }
  return TrainEnd::kSteps;
}

}  // namespace

TrainResult train_model(const TrainOptions& o, const TrainCallbacks& callbacks) {
  require_limits(o);
  train::TrainerOptions options;
  options.output = o.output;
  const LineReaderOptions lines{.lossy = o.lossy};
  const std::string pairs = o.pairs.size() == 1 ? o.pairs[0] : "";  // several are corpora of the recipe
  options.data = {{pairs, o.source, o.target, o.swap, lines}, o.text, lines};
  options.validation = {{o.valid_pairs, o.valid_source, o.valid_target, o.swap, lines}, o.valid_text, lines};
  options.recipe = recipe_of(o);
  options.threads = checked_threads(o.threads);
  options.max_steps = o.max_steps;
  options.max_minutes = o.max_minutes;
  options.max_epochs = o.max_epochs;
  set_languages(o.languages, options);
  options.stop = callbacks.cancelled;
  options.on_message = callbacks.on_message;
  if (callbacks.on_step) {
    options.on_step = [&](const train::Metrics& metrics) { callbacks.on_step(step_of(metrics)); };
  }
  const train::TrainingSummary summary = train::train(options);
  return {end_of(summary.end), summary.steps, summary.resumed_from, summary.best_step, summary.seconds};
}

}  // namespace heed
