#include "train/training_end.h"

#include "base/check.h"
#include "base/counted.h"

namespace heed::train {
namespace {

struct Reason {
  std::string reached, remedy;
};

Reason reason_of(TrainingEnd end, const TrainingSummary& summary, const TrainerOptions& options) {
  const std::string steps = counted(summary.steps, "step");
  switch (end) {
    case TrainingEnd::kSteps:
      return {fmt::format("its {} reach --max-steps {}", steps, options.max_steps), "a larger --max-steps"};
    case TrainingEnd::kMinutes:
      return {fmt::format("its {:.3g} minutes ({}) reach --max-minutes {:g}", summary.seconds / 60, steps,
                          options.max_minutes),
              "a larger --max-minutes"};
    case TrainingEnd::kEpochs:
      return {fmt::format("its {} reach --max-epochs {:g}", steps, options.max_epochs),
              "a larger --max-epochs"};
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
      remedy.empty()
          ? fmt::format("To train on, fine-tune it with --from {} and another --output", options.output)
          : fmt::format("To continue it, give {}; to start over, another --output", remedy);
  return fmt::format("the training in '{}' is finished: {}. {}", options.output, reached, advice);
}

}  // namespace heed::train
