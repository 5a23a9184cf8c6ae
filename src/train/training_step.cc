#include "train/training_step.h"

#include <algorithm>
#include <utility>

#include "autograd/stop_scope.h"
#include "distributed/collectives.h"
#include "train/checkpoint.h"

namespace heed::train {
namespace {

/// What the ranks tell each other about a shard before they sum gradients.
struct ShardReport {
  LossSums sums;
  bool stopped = false;
};

}  // namespace

TrainingStep::TrainingStep(const Objective& objective, const nn::ParameterTable& table, ThreadPool& pool,
                           const TrainingStepOptions& options)
    : objective_(objective),
      table_(table),
      pool_(pool),
      options_(options),
      tree_(table),
      exchange_(table, *options.ranks),
      statistics_(table) {}

LossSums TrainingStep::add_gradients(const Update& update, const Batch& shard, RandomKey key,
                                     nn::ParameterArray& gradients) const {
  if (shard.sentences.empty()) return {};
  thread_local Tape tape;
  tape.clear();
  const StopScope ended_by(options_.stop);
  nn::Context context;
  context.table = &table_;
  context.values = &update.values;
  context.tape = &tape;
  context.gradients = &gradients;
  context.training = true;
  context.random = key;
  context.precision = options_.precision;
  const BatchLoss loss = objective_.loss(context, shard, 1 / update.weight);
  tape.backward(loss.loss);
  tape.clear();
  statistics_.weight_shard(gradients, 1 / update.filled);
  return loss.sums;
}

LossSums TrainingStep::run(const std::vector<Batch>& shards, const nn::ParameterArray& values,
                           RandomKey key) {
  distributed::Communicator& ranks = *options_.ranks;
  if (gradients_.defined()) tree_.recycle(std::exchange(gradients_, {}));
  Update update{values};
  for (const Batch& shard : shards) update.weight += objective_.weight(shard);
  update.filled = static_cast<double>(
      std::ranges::count_if(shards, [](const Batch& shard) { return !shard.sentences.empty(); }));
  const ReductionTree tree(shards.size());
  const distributed::Slices parts(static_cast<int64_t>(shards.size()), ranks.size());
  const Range own = parts.of(ranks.rank());
  tree_.begin(tree, own);
  std::vector<ShardReport> reports(shards.size());
  try {
    pool_.run(static_cast<size_t>(own.size()), [&](size_t item) {
      const size_t n = static_cast<size_t>(own.begin) + item;
      nn::ParameterArray gradients = tree_.take();
      reports[n].sums = add_gradients(update, shards[n], key.fold(n), gradients);
      tree_.put(n, std::move(gradients));
    });
  } catch (const Stopped&) {
    reports[static_cast<size_t>(own.begin)].stopped = true;
  }
  distributed::all_gather(ranks, {reports.data(), sizeof(ShardReport), parts});
  LossSums total;
  for (const ShardReport& each : reports) {
    if (each.stopped) throw Stopped();  // on every rank
    total.add(each.sums);
  }
  std::vector<nn::ParameterArray> sums = tree_.sums();
  exchange_.sum(pool_, tree, parts, sums);
  gradients_ = std::move(sums[0]);
  for (size_t n = 1; n < sums.size(); ++n) tree_.recycle(std::move(sums[n]));
  statistics_.take_out(gradients_);
  nn::drop_gradients_of_zero_rows(table_, values, gradients_);
  return total;
}

uint64_t TrainingStep::fingerprint(const Batch& shard, const nn::ParameterArray& values, RandomKey key) {
  nn::ParameterArray gradients = tree_.take();
  add_gradients({values, objective_.weight(shard), 1}, shard, key, gradients);
  const uint64_t found = fingerprint_of(gradients);
  tree_.recycle(std::move(gradients));
  return found;
}

}  // namespace heed::train
