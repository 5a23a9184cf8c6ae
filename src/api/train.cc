#include "heed/train.h"

#include <vector>

#include "api/checks.h"
#include "base/text/option_error.h"
#include "train/recipe/training_options.h"

namespace heed {
namespace {

void require_limits(const TrainOptions& o) {
  if (o.output.empty()) fail_option("$output must name the model directory");
  if (o.max_steps < 0 || !(o.max_minutes >= 0) || !(o.max_epochs >= 0)) {
    fail_option("$max_steps, $max_minutes and $max_epochs must be at least 0, not {}, {} and {}", o.max_steps,
                o.max_minutes, o.max_epochs);
  }
}

train::TrainerOptions options_of(const TrainOptions& o) {
  std::vector<train::Setting> settings;
  for (const auto& [key, value] : o.settings) settings.push_back({key, value, "settings"});
  if (!o.from.empty()) settings.push_back({"training.from", o.from, "from"});
  train::TrainerOptions options = train::trainer_options(o, settings);
  options.threads = checked_threads(o.threads);
  return options;
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
  train::TrainerOptions options = options_of(o);
  options.stop = callbacks.cancelled;
  options.on_message = callbacks.on_message;
  options.option_names = callbacks.option_names;
  if (callbacks.on_step) {
    options.on_step = [&](const train::Metrics& metrics) { callbacks.on_step(step_of(metrics)); };
  }
  const train::TrainingSummary summary = train::train(options);
  return {end_of(summary.end), summary.steps, summary.resumed_from, summary.best_step, summary.seconds};
}

}  // namespace heed
