// Fits schedule and validations to the length of a training. The presets are made for trainings of tens of
// thousands of steps; one of three minutes would end within their warm-up, without a validation
// (docs/adr/0026-short-trainings.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "train/loop/schedule.h"
#include "train/recipe/recipe.h"

namespace heed::train {

/// What the number of steps determines.
struct TrainingPlan {
  Schedule schedule;
  int64_t validate_every = 1000;
  bool decays = false;  ///< whether the learning rate falls to kFittedFloor of its peak at the last step
};

/// The fraction of the peak at which a fitted decay ends. Not 0: an estimated length may be exceeded.
constexpr double kFittedFloor = 0.1;

/// TrainingState::fitted_steps without a number of steps.
constexpr int64_t kNotYetFitted = 0, kNeverFitted = -1;

/// The plan of a training of `fitted_steps` steps. Where the recipe has schedule.fit, the warm-up is at most
/// half of them, and schedules with an end have it there. Where it has validation.fit, there are at least
/// five validations, twenty steps or more apart. Otherwise, and for kNotYetFitted and kNeverFitted, it is the
/// recipe's. A training that is continued to `max_steps`, more than it was fitted to, keeps its schedule, but
/// has the validations of one of that length.
TrainingPlan make_plan(const Recipe& recipe, int64_t fitted_steps, int64_t max_steps = 0);

/// How much of a training is done.
struct TrainingProgressSoFar {
  int64_t step = 0;
  double fraction = 0;  ///< of the limit in time or epochs that is nearest; 0: there is none
};

/// The number of steps until a limit, once enough of them are done to tell: 10 to 50, fewer for a very short
/// training. kNotYetFitted before that, kNeverFitted without a limit. A limit in steps alone needs no
/// measurement.
int64_t fitted_steps(const TrainingProgressSoFar& progress, int64_t max_steps, bool has_other_limit);

/// Says how the plan differs from the recipe; empty if it doesn't.
std::string describe_fit(const Recipe& recipe, const TrainingPlan& plan, int64_t fitted_steps);

/// A warning for a training from scratch that is too short to learn much; otherwise empty. `batch_tokens`:
/// the size of the batches, if smaller ones allowed more steps, as they do unless the limit is a number of
/// steps.
std::string warning_of_length(const Recipe& recipe, std::optional<int64_t> batch_tokens,
                              int64_t fitted_steps);

}  // namespace heed::train
