#include "train/training_step.h"

#include <utility>

namespace heed::train {

LossSums TrainingStep::run(const std::vector<Batch>& parts, const nn::ParameterArray& values, RandomKey key) {
  if (gradients_.defined()) tree_.recycle(std::exchange(gradients_, {}));
  double weight = 0;
  for (const Batch& part : parts) weight += task_.weight(Part::kTraining, part);
  tree_.begin(parts.size());
  std::vector<LossSums> sums(parts.size());
  pool_.run(parts.size(), [&](size_t n) {
    nn::ParameterArray gradients = tree_.take();
    if (!parts[n].sentences.empty()) {
      thread_local Tape tape;
      tape.clear();
      nn::Context context;
      context.table = &table_;
      context.values = &values;
      context.tape = &tape;
      context.gradients = &gradients;
      context.training = true;
      context.random = key.fold(n);
      const BatchLoss loss = task_.loss(context, Part::kTraining, parts[n], 1 / weight);
      tape.backward(loss.loss);
      tape.clear();
      sums[n] = loss.sums;
    }
    tree_.put(n, std::move(gradients));
  });
  gradients_ = tree_.sum();
  LossSums total;
  for (const LossSums& each : sums) total.add(each);
  return total;
}

LossSums TrainingStep::evaluate(const std::vector<Batch>& batches, const nn::ParameterArray& values) {
  nn::PackedWeights packed;
  std::vector<LossSums> sums(batches.size());
  pool_.run(batches.size(), [&](size_t n) {
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
