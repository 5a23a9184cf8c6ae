#include "train/training_step.h"

#include <algorithm>
#include <utility>

#include "autograd/stop_scope.h"

namespace heed::train {

TrainingStep::TrainingStep(const Objective& objective, const nn::ParameterTable& table, ThreadPool& pool,
                           const TrainingStepOptions& options)
    : objective_(objective),
      table_(table),
      pool_(pool),
      options_(options),
      tree_(table),
      statistics_(table) {}

LossSums TrainingStep::run(const std::vector<Batch>& shards, const nn::ParameterArray& values,
                           RandomKey key) {
  if (gradients_.defined()) tree_.recycle(std::exchange(gradients_, {}));
  double weight = 0;
  for (const Batch& shard : shards) weight += objective_.weight(shard);
  const auto filled =
      std::ranges::count_if(shards, [](const Batch& shard) { return !shard.sentences.empty(); });
  tree_.begin(shards.size());
  std::vector<LossSums> sums(shards.size());
  pool_.run(shards.size(), [&](size_t n) {
    nn::ParameterArray gradients = tree_.take();
    if (!shards[n].sentences.empty()) {
      thread_local Tape tape;
      tape.clear();
      const StopScope ended_by(options_.stop);
      nn::Context context;
      context.table = &table_;
      context.values = &values;
      context.tape = &tape;
      context.gradients = &gradients;
      context.training = true;
      context.random = key.fold(n);
      context.precision = options_.precision;
      const BatchLoss loss = objective_.loss(context, shards[n], 1 / weight);
      tape.backward(loss.loss);
      tape.clear();
      statistics_.weight_shard(gradients, 1 / static_cast<double>(filled));
      sums[n] = loss.sums;
    }
    tree_.put(n, std::move(gradients));
  });
  gradients_ = tree_.sum();
  statistics_.take_out(gradients_);
  nn::drop_gradients_of_zero_rows(table_, values, gradients_);
  LossSums total;
  for (const LossSums& each : sums) total.add(each);
  return total;
}

}  // namespace heed::train
