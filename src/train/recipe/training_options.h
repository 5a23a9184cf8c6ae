// From the options of a training, as a program or the command gives them, to what the trainer needs.
#pragma once

#include <vector>

#include "heed/train.h"
#include "train/loop/trainer.h"
#include "train/recipe/recipe.h"

namespace heed::train {

/// Everything but the callbacks and `threads`. `settings` are applied after the recipe file, in order, in
/// place of options.settings, and say for messages where each comes from. Pairs, or source and target,
/// replace the corpora of the recipe. A training that has begun in `output` needs the model of training.from
/// no longer. Throws kUsage for options that contradict each other and for invalid settings, and what reading
/// the recipe file throws.
TrainerOptions trainer_options(const TrainOptions& options, const std::vector<Setting>& settings);

}  // namespace heed::train
