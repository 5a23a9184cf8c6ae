#include "train/validation.h"

#include "data/batcher.h"

namespace heed::train {

ValidationScores validate(const models::Seq2Seq&, const nn::ParameterArray& values, const TrainingData& data,
                          const Recipe& recipe, TrainingStep& step, ThreadPool&) {
  ValidationScores scores;
  const auto batches = length_sorted_batches(sizes_of(*data.validation), recipe.batch_tokens / recipe.shard_count());
  const LossSums sums = step.evaluate(*data.validation, batches, values, 0);
  scores.loss = sums.negative_log_likelihood / static_cast<double>(sums.target_tokens);
  return scores;
}

double metric_of(const ValidationScores& scores, const Recipe& recipe) {
  if (recipe.metric == "bleu" && scores.bleu) return *scores.bleu;
  if (recipe.metric == "chrf" && scores.chrf) return *scores.chrf;
  return -scores.loss;
}

}  // namespace heed::train
