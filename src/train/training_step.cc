#include "train/training_step.h"

#include <algorithm>
#include <utility>

#include "autograd/stop_scope.h"
#include "distributed/collectives.h"
#include "train/checkpoint.h"
#include "train/finished_sections.h"

namespace heed::train {
namespace {

/// What the ranks tell each other about a shard.
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
      slices_(table, *options.ranks),
      tree_(table, slices_),
      exchange_(slices_, *options.ranks, tree_),
      statistics_(table) {}

LossSums TrainingStep::add_gradients(const Update& update, const Batch& shard, RandomKey key,
                                     nn::ParameterArray gradients,
                                     const std::function<void(size_t)>& report) const {
  FinishedSections finished(slices_, gradients, report);
  if (shard.sentences.empty()) {
    finished.begin_backward();
    return {};
  }
  thread_local Tape tape;
  tape.clear();
  const LeafScope observed_by(&finished);
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
  statistics_.weight_shard(gradients, 1 / update.filled);  // complete after the forward pass
  finished.begin_backward();
  tape.backward(loss.loss);
  tape.clear();
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
  exchange_.begin(tree, parts);
  std::vector<ShardReport> reports(shards.size());
  try {
    pool_.run(static_cast<size_t>(own.size()), [&](size_t item) {
      const size_t n = static_cast<size_t>(own.begin) + item;
      reports[n].sums = add_gradients(update, shards[n], key.fold(n), tree_.take(n),
                                      [&](size_t section) { tree_.put(n, section); });
    });
  } catch (const Stopped&) {  // the others learn it from the report
    reports[static_cast<size_t>(own.begin)].stopped = true;
    tree_.give_up();
  } catch (...) {
    exchange_.cancel();
    throw;
  }
  exchange_.finish();
  distributed::all_gather(ranks, {reports.data(), sizeof(ShardReport), parts});
  LossSums total;
  for (const ShardReport& each : reports) {
    if (each.stopped) throw Stopped();  // on every rank
    total.add(each.sums);
  }
  std::vector<nn::ParameterArray> sums = tree_.sums();
  exchange_.add_up(pool_, sums);
  gradients_ = std::move(sums[0]);
  for (size_t n = 1; n < sums.size(); ++n) tree_.recycle(std::move(sums[n]));
  statistics_.take_out(gradients_);
  nn::drop_gradients_of_zero_rows(table_, values, gradients_);
  return total;
}

uint64_t TrainingStep::fingerprint(const Batch& shard, const nn::ParameterArray& values, RandomKey key) {
  nn::ParameterArray gradients = tree_.zeros();
  add_gradients({values, objective_.weight(shard), 1}, shard, key, gradients, [](size_t) {});
  const uint64_t found = fingerprint_of(gradients);
  tree_.recycle(std::move(gradients));
  return found;
}

}  // namespace heed::train
