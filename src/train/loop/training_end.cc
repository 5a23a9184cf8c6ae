#include "train/loop/training_end.h"

#include "base/check.h"
#include "base/counted.h"
#include "base/text/option_error.h"

namespace heed::train {
namespace {

struct Reason {
  std::string reached, remedy;
};

Reason reason_of(TrainingEnd end, const TrainingSummary& summary, const TrainerOptions& options) {
  const std::string steps = counted(summary.steps, "step");
  switch (end) {
    case TrainingEnd::kSteps:
      return {option_text("its {} reach $max_steps {}", steps, options.max_steps),
              option_text("a larger $max_steps")};
    case TrainingEnd::kMinutes:
      return {option_text("its {:.3g} minutes ({}) reach $max_minutes {:g}", summary.seconds / 60, steps,
                          options.max_minutes),
              option_text("a larger $max_minutes")};
    case TrainingEnd::kEpochs:
      return {option_text("its {} reach $max_epochs {:g}", steps, options.max_epochs),
              option_text("a larger $max_epochs")};
    case TrainingEnd::kPatience:
      return {fmt::format("{} in a row were not better than that of step {} (validation.patience = {})",
                          counted(options.recipe.patience, "validation"), summary.best_step,
                          options.recipe.patience),
              ""};
    case TrainingEnd::kStopped:
      break;
  }
  HEED_CHECK(false);
}

}  // namespace

std::string describe_finished(TrainingEnd end, const TrainingSummary& summary,
                              const TrainerOptions& options) {
  const auto [reached, remedy] = reason_of(end, summary, options);
  const std::string advice =
      remedy.empty() ? option_text("To train on, fine-tune it: give it as $from, and another $output")
                     : option_text("To continue it, give {}; to start over, another $output", remedy);
  return fmt::format("the training in '{}' is finished: {}. {}", options.output, reached, advice);
}

}  // namespace heed::train
