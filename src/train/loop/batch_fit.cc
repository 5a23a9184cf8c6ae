#include "train/loop/batch_fit.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "base/check.h"

namespace heed::train {
namespace {

constexpr double kWantedUpdates = 1000;
constexpr int64_t kLeastBatch = 512, kMeasuredBatch = 1024, kBatchRounding = 256;
constexpr int64_t kLeastBlocks = 2;  // of a batch of a language model
constexpr int kMeasuredRuns = 3;     // the first is slower than the others

/// By the clock of the first process, without an update.
double seconds_of(Training& training, const std::vector<Batch>& shards) {
  double weight = 0;
  for (const Batch& shard : shards) weight += training.task.weight(shard);
  const auto pass = [&](ShardPass& shard) {
    const BatchLoss loss = training.task.loss(shard.context(), shard.batch(), 1 / weight);
    shard.backward(loss.loss);
    return loss.sums;
  };
  const RandomKey key = RandomKey::from_seed(training.recipe.seed);
  double fastest = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kMeasuredRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    training.reduction->run(shards, training.checkpoint.values, key, pass);
    fastest =
        std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return training.reducer.of_first(fastest);
}

/// The share of the training that an update with batches of this size takes, by the limit that is nearest.
double share_of_update(Training& training, int64_t batch_tokens) {
  const auto batches = training.task.batches({}, batch_tokens);
  const std::vector<Batch> shards = batches->next(static_cast<size_t>(training.recipe.shard_count()));
  const TrainerOptions& options = training.options;
  double share = 0;
  if (options.max_epochs > 0) share = batches->epochs() / options.max_epochs;
  if (options.max_minutes > 0) {
    share = std::max(share, seconds_of(training, shards) / (60 * options.max_minutes));
  }
  return share * training.recipe.gradient_accumulation;
}

bool can_fit(const Training& training) {
  const TrainerOptions& options = training.options;
  const bool has_length = options.max_minutes > 0 || options.max_epochs > 0;
  return training.recipe.fit_batch && has_length && options.max_steps <= 0 &&
         training.checkpoint.state.step == 0;
}

}  // namespace

int64_t least_batch_tokens(const Recipe& recipe) {
  const bool blocks = recipe.task() == models::Task::kLanguageModel;
  const int64_t least = blocks ? std::max(kLeastBatch, kLeastBlocks * recipe.block_size) : kLeastBatch;
  return std::min(least, recipe.batch_tokens);
}

int64_t measured_batch_tokens(const Recipe& recipe) {
  return std::clamp(kMeasuredBatch, least_batch_tokens(recipe), recipe.batch_tokens);
}

int64_t fitted_batch_tokens(const Recipe& recipe, double tokens) {
  const double wanted = tokens / kWantedUpdates;
  if (!(wanted < static_cast<double>(recipe.batch_tokens))) return recipe.batch_tokens;
  const int64_t rounded = static_cast<int64_t>(wanted) / kBatchRounding * kBatchRounding;
  return std::max(rounded, least_batch_tokens(recipe));
}

void fit_batches(Training& training) {
  const Recipe& recipe = training.recipe;
  TrainingState& state = training.checkpoint.state;
  if (state.batch_tokens > 0) return;  // decided before
  state.batch_tokens = recipe.batch_tokens;
  if (!can_fit(training)) return;
  const int64_t measured = measured_batch_tokens(recipe);
  state.batch_tokens =
      fitted_batch_tokens(recipe, static_cast<double>(measured) / share_of_update(training, measured));
  if (state.batch_tokens == recipe.batch_tokens) return;
  training.batches = training.batches_at(state.cursor);
  training.say(fmt::format("the batches are fitted to the length of the training: {} tokens instead of {}",
                           state.batch_tokens, recipe.batch_tokens));
}

}  // namespace heed::train
