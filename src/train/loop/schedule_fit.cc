#include "train/loop/schedule_fit.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/counted.h"
#include "base/text/option_error.h"
#include "train/loop/batch_fit.h"

namespace heed::train {
namespace {

constexpr int64_t kWarmupParts = 2;  // the warm-up is at most half of the training
constexpr int64_t kValidations = 5, kLeastStepsBetweenValidations = 20;
constexpr int64_t kTooShortPart = 4;  // fewer steps than a quarter of the recipe's warm-up
constexpr int64_t kMostMeasuredSteps = 50, kLeastMeasuredSteps = 10;
constexpr double kMeasuredShare = 0.05, kMostMeasuredShare = 0.15;

void fit_warmup(int64_t steps, Schedule& schedule) {
  const int64_t warmup_steps = std::max<int64_t>(steps / kWarmupParts, 1);
  if (warmup_steps >= schedule.warmup_steps) return;
  if (schedule.kind == ScheduleKind::kNoam) {  // its peak would be higher
    schedule.learning_rate = schedule.at(schedule.warmup_steps);
    schedule.kind = ScheduleKind::kInverseSqrt;
  }
  schedule.warmup_steps = warmup_steps;
}

}  // namespace

TrainingPlan make_plan(const Recipe& recipe, int64_t fitted_steps, int64_t max_steps) {
  TrainingPlan plan{recipe.make_schedule(), recipe.validate_every};
  if (fitted_steps <= 0) return plan;
  if (recipe.fit_schedule) {
    fit_warmup(fitted_steps, plan.schedule);
    plan.decays = has_end(recipe.schedule);
  }
  if (plan.decays) {
    plan.schedule.total = fitted_steps;
    plan.schedule.floor = kFittedFloor;
  }
  if (recipe.fit_validation) {
    const int64_t every =
        std::max(std::max(fitted_steps, max_steps) / kValidations, kLeastStepsBetweenValidations);
    plan.validate_every = std::min(recipe.validate_every, every);
  }
  return plan;
}

int64_t fitted_steps(const TrainingProgressSoFar& progress, int64_t max_steps, bool has_other_limit) {
  if (!has_other_limit) return max_steps > 0 ? max_steps : kNeverFitted;
  const bool measured = progress.step >= kMostMeasuredSteps ||
                        (progress.step >= kLeastMeasuredSteps && progress.fraction >= kMeasuredShare) ||
                        progress.fraction >= kMostMeasuredShare;
  if (progress.step == 0 || !measured || !(progress.fraction > 0)) return kNotYetFitted;
  const double steps = std::min(static_cast<double>(progress.step) / progress.fraction, 1e9);
  const int64_t estimate = std::max<int64_t>(std::llround(steps), progress.step);
  return max_steps > 0 ? std::min(estimate, max_steps) : estimate;
}

std::string describe_fit(const Recipe& recipe, const TrainingPlan& plan, int64_t fitted_steps) {
  std::vector<std::string> parts;
  if (plan.schedule.warmup_steps != recipe.warmup_steps) {
    parts.push_back(fmt::format("warmup {} instead of {}", plan.schedule.warmup_steps, recipe.warmup_steps));
  }
  if (plan.decays) {
    parts.push_back(fmt::format("learning rate falling to {:.2g} at the end",
                                plan.schedule.at(std::max(fitted_steps, plan.schedule.warmup_steps + 1))));
  }
  if (plan.validate_every != recipe.validate_every) {
    parts.push_back(
        fmt::format("validation every {} instead of {}", plan.validate_every, recipe.validate_every));
  }
  if (parts.empty()) return "";
  return fmt::format("the schedule is fitted to {}: {}", counted(fitted_steps, "step"),
                     fmt::join(parts, ", "));
}

std::string warning_of_length(const Recipe& recipe, std::optional<int64_t> batch_tokens,
                              int64_t fitted_steps) {
  if (fitted_steps <= 0 || !recipe.from.empty() || fitted_steps >= recipe.warmup_steps / kTooShortPart)
    return "";
  std::string batches;
  if (batch_tokens) {
    const int64_t smaller = std::max(*batch_tokens / 4, least_batch_tokens(recipe));
    if (smaller < *batch_tokens) {
      batches = fmt::format(" or with smaller batches (training.batch_tokens = {} instead of {})", smaller,
                            *batch_tokens);
    }
  }
  return option_text(
      "warning: the limits allow about {}, too few for this recipe to learn much (its warmup alone has "
      "{}). Train longer{}, train a smaller model ($preset tiny), or fine-tune a model ($from)",
      counted(fitted_steps, "step"), recipe.warmup_steps, batches);
}

}  // namespace heed::train
