// Fits the batches to the length of a training from scratch: the presets' batches would give one of three
// minutes too few updates (docs/adr/0026-short-trainings.md).
#pragma once

#include <cstdint>

#include "train/loop/training.h"
#include "train/recipe/recipe.h"

namespace heed::train {

/// The least that fitting makes of the recipe's batches: 512 tokens, and for language models two blocks.
int64_t least_batch_tokens(const Recipe& recipe);

/// The size of the batches whose time is measured.
int64_t measured_batch_tokens(const Recipe& recipe);

/// The size of the batches of a training that has time for `tokens` tokens in all, counting one batch of each
/// update: the recipe's, or as much less as a thousand updates need.
int64_t fitted_batch_tokens(const Recipe& recipe, double tokens);

/// Decides the size of the batches once, before the first step, from the epochs or minutes that there are.
/// Where steps are counted, or training.fit_batch is off, it is the recipe's. Throws Cancelled.
void fit_batches(Training& training);

}  // namespace heed::train
