#include "train/training_step.h"

#include <utility>

#include "data/packed_batch.h"

namespace heed::train {

void LossSums::add(const LossSums& other) {
  loss += other.loss;
  negative_log_likelihood += other.negative_log_likelihood;
  target_tokens += other.target_tokens;
  source_tokens += other.source_tokens;
}

LossSums TrainingStep::run(const Corpus& corpus, const std::vector<Batch>& shards,
                           const nn::ParameterArray& values, double label_smoothing, RandomKey key) {
  if (gradients_.defined()) tree_.recycle(std::exchange(gradients_, {}));
  int64_t tokens = 0;
  for (const Batch& shard : shards) tokens += shard.target_tokens;
  tree_.begin(shards.size());
  std::vector<LossSums> sums(shards.size());
  pool_.run(shards.size(), [&](size_t n) {
    nn::ParameterArray gradients = tree_.take();
    if (!shards[n].sentences.empty()) {
      thread_local Tape tape;
      tape.clear();
      const TranslationBatch input = pack_translation(corpus, shards[n].sentences, model_.start_id());
      nn::Context context;
      context.table = &model_.table();
      context.values = &values;
      context.tape = &tape;
      context.gradients = &gradients;
      context.training = true;
      context.random = key.fold(n);
      const ops::CrossEntropyOptions options{.smoothing = label_smoothing};
      const auto loss = model_.loss(context, input.source, input.decoder_input, input.labels, options,
                                    1 / static_cast<double>(tokens));
      tape.backward(loss.loss);
      tape.clear();
      sums[n] = {loss.loss_sum, loss.negative_log_likelihood, loss.tokens, shards[n].source_tokens};
    }
    tree_.put(n, std::move(gradients));
  });
  gradients_ = tree_.sum();
  LossSums total;
  for (const LossSums& each : sums) total.add(each);
  return total;
}

LossSums TrainingStep::evaluate(const Corpus& corpus, const std::vector<Batch>& batches,
                                const nn::ParameterArray& values, double label_smoothing) {
  nn::PackedWeights packed;
  std::vector<LossSums> sums(batches.size());
  pool_.run(batches.size(), [&](size_t n) {
    const TranslationBatch input = pack_translation(corpus, batches[n].sentences, model_.start_id());
    nn::Context context;
    context.table = &model_.table();
    context.values = &values;
    context.packed = &packed;
    const auto loss = model_.loss(context, input.source, input.decoder_input, input.labels,
                                  {.smoothing = label_smoothing}, 1);
    sums[n] = {loss.loss_sum, loss.negative_log_likelihood, loss.tokens, batches[n].source_tokens};
  });
  LossSums total;
  for (const LossSums& each : sums) total.add(each);
  return total;
}

}  // namespace heed::train
