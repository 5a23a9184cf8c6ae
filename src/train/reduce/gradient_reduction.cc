#include "train/reduce/gradient_reduction.h"

#include <algorithm>
#include <utility>

#include "base/stop.h"
#include "train/store/checkpoint.h"
#include "train/tasks/finished_sections.h"

namespace heed::train {

/// What the processes tell each other about a shard.
struct GradientReduction::ShardReport {
  LossSums sums;
  bool stopped = false;
};

void ShardPass::backward(const Var& loss) {
  end_forward_();
  context_.tape->backward(loss);
}

GradientReduction::GradientReduction(const nn::ParameterTable& table, ThreadPool& pool, Reducer& reducer,
                                     const Options& options)
    : table_(table),
      pool_(pool),
      reducer_(reducer),
      options_(options),
      slices_(reducer.slices(table)),
      tree_(table, slices_),
      exchange_(reducer.exchange(slices_, tree_)),
      statistics_(table) {}

LossSums GradientReduction::add_gradients(const Passes& passes, const Batch& shard, RandomKey key,
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
  ShardPass pass(shard, [&] {  // the statistics of batch norms are complete
    statistics_.weight_shard(gradients, 1 / passes.filled);
    finished.begin_backward();
  });
  nn::Context& context = pass.context();
  context.table = &table_;
  context.values = &passes.values;
  context.tape = &tape;
  context.gradients = &gradients;
  context.training = true;
  context.random = key;
  context.precision = options_.precision;
  const LossSums sums = passes.pass(pass);
  tape.clear();
  return sums;
}

void GradientReduction::add_own_shards(const Passes& passes, const std::vector<Batch>& shards, RandomKey key,
                                       std::vector<ShardReport>& reports) {
  const Range own = reducer_.own_part(static_cast<int64_t>(shards.size()));
  const ReductionTree tree(shards.size());
  tree_.begin(tree, own);
  exchange_->begin(tree);
  try {
    pool_.run(static_cast<size_t>(own.size()), [&](size_t item) {
      const size_t n = static_cast<size_t>(own.begin) + item;
      reports[n].sums = add_gradients(passes, shards[n], key.fold(n), tree_.take(n),
                                      [&](size_t section) { tree_.put(n, section); });
    });
  } catch (const Cancelled&) {  // the others learn it from the report
    reports[static_cast<size_t>(own.begin)].stopped = true;
    tree_.give_up();
  } catch (...) {
    exchange_->cancel();
    throw;
  }
  exchange_->finish();
}

LossSums GradientReduction::run(const std::vector<Batch>& shards, const nn::ParameterArray& values,
                                RandomKey key, const Pass& pass) {
  if (gradients_.defined()) tree_.recycle(std::exchange(gradients_, {}));
  const auto filled =
      std::ranges::count_if(shards, [](const Batch& each) { return !each.sentences.empty(); });
  std::vector<ShardReport> reports(shards.size());
  add_own_shards({values, pass, static_cast<double>(filled)}, shards, key, reports);
  reducer_.gather(reports);
  LossSums total;
  for (const ShardReport& each : reports) {
    if (each.stopped) throw Cancelled();  // in every process
    total.add(each.sums);
  }
  std::vector<nn::ParameterArray> sums = tree_.sums();
  exchange_->add_up(pool_, sums);
  gradients_ = std::move(sums[0]);
  for (size_t n = 1; n < sums.size(); ++n) tree_.recycle(std::move(sums[n]));
  statistics_.take_out(gradients_);
  nn::drop_gradients_of_zero_rows(table_, values, gradients_);
  return total;
}

uint64_t GradientReduction::fingerprint(const Batch& shard, const nn::ParameterArray& values, RandomKey key,
                                        const Pass& pass) {
  nn::ParameterArray gradients = tree_.zeros();
  add_gradients({values, pass}, shard, key, gradients, [](size_t) {});
  const uint64_t found = fingerprint_of(gradients);
  tree_.recycle(std::move(gradients));
  return found;
}

}  // namespace heed::train
