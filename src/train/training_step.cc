#include "train/training_step.h"

#include <algorithm>
#include <utility>

#include "autograd/stop_scope.h"

namespace heed::train {

TrainingStep::TrainingStep(const Task& task, const nn::ParameterTable& table, ThreadPool& pool,
                           const TrainingStepOptions& options)
    : task_(task), table_(table), pool_(pool), options_(options), tree_(table) {
  for (int row = 0; row < table.size(); ++row) {
    if (table[row].momentum > 0) statistics_.push_back({row, {}});
  }
}

/// They were gathered and added up where gradients are, so in the same fixed tree.
void TrainingStep::take_out_statistics() {
  for (Statistic& statistic : statistics_) {
    Tensor sum = gradients_.view(table_, {statistic.row, 1});
    statistic.collected = sum.to_vector<float>();
    std::fill_n(sum.data<float>(), sum.size(), 0.0f);
  }
}

void TrainingStep::move_statistics(nn::ParameterArray& values) const {
  for (const Statistic& statistic : statistics_) {
    const auto momentum = static_cast<float>(table_[statistic.row].momentum);
    float* value = values.view(table_, {statistic.row, 1}).data<float>();
    for (const float collected : statistic.collected) {
      *value += momentum * (collected - *value);
      ++value;
    }
  }
}

LossSums TrainingStep::run(const std::vector<Batch>& parts, const nn::ParameterArray& values, RandomKey key) {
  if (gradients_.defined()) tree_.recycle(std::exchange(gradients_, {}));
  double weight = 0;
  for (const Batch& part : parts) weight += task_.weight(Part::kTraining, part);
  const auto filled = std::ranges::count_if(parts, [](const Batch& part) { return !part.sentences.empty(); });
  tree_.begin(parts.size());
  std::vector<LossSums> sums(parts.size());
  pool_.run(parts.size(), [&](size_t n) {
    const MatmulPrecisionScope allowed(options_.precision);
    nn::ParameterArray gradients = tree_.take();
    if (!parts[n].sentences.empty()) {
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
      context.share = 1 / static_cast<double>(filled);
      const BatchLoss loss = task_.loss(context, Part::kTraining, parts[n], 1 / weight);
      tape.backward(loss.loss);
      tape.clear();
      sums[n] = loss.sums;
    }
    tree_.put(n, std::move(gradients));
  });
  gradients_ = tree_.sum();
  take_out_statistics();
  nn::drop_gradients_of_zero_rows(table_, values, gradients_);
  LossSums total;
  for (const LossSums& each : sums) total.add(each);
  return total;
}

LossSums TrainingStep::evaluate(const std::vector<Batch>& batches, const nn::ParameterArray& values) {
  nn::PackedWeights packed;
  std::vector<LossSums> sums(batches.size());
  pool_.run(batches.size(), [&](size_t n) {
    options_.stop.check();
    nn::Context context;
    context.table = &table_;
    context.values = &values;
    context.packed = &packed;
    sums[n] = task_.loss(context, Part::kValidation, batches[n], 1).sums;
  });
  LossSums total;
  for (const LossSums& each : sums) total.add(each);
  return total;
}

}  // namespace heed::train
