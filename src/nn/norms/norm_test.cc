#include "nn/norms/norm.h"

#include "compare.h"
#include "nn/module_test.h"
#include "ops/norms/batch_norm.h"

namespace heed::nn {
namespace {

/// A norm of three features, with parameters other than those it begins with.
struct ThreeFeatures {
  explicit ThreeFeatures(NormKind kind)
      : norm(table, "n", 3, {.kind = kind}), values(random_parameters(table)) {
    if (kind != NormKind::kBatch) return;
    double* variance = values.view(table, {3, 1}).data<double>();
    for (int c = 0; c < 3; ++c) variance[c] = 1 + variance[c] * variance[c];
  }
  Context context(bool training) const {
    Context context = context_for(table, values);
    context.training = training;
    return context;
  }
  Tensor view(int row) const { return values.view(table, {row, 1}).clone(); }
  ParameterTable table;
  Norm norm;
  ParameterArray values;
};

TEST(Norm, OnlyBatchNormDependsOnOtherRows) {
  const Tensor x = TensorSource(1).normal({4, 3}), other = TensorSource(2).normal({4, 3});
  for (const NormKind kind : {NormKind::kLayer, NormKind::kRms, NormKind::kBatch}) {
    const ThreeFeatures n(kind);
    for (const bool training : {false, true}) {
      Tensor other_batch = other.clone();
      std::copy_n(x.data<double>(), 3, other_batch.data<double>());  // the same first row
      Context context = n.context(training);
      const Tensor first = n.norm.forward(context, x).value().narrow(0, 0, 1).clone();
      const Tensor again = n.norm.forward(context, other_batch).value().narrow(0, 0, 1).clone();
      if (training && kind == NormKind::kBatch) {
        EXPECT_GT(largest_difference(first, again), 1e-3);
      } else {
        expect_equal(first, again, "a row in another batch");
      }
    }
  }
}

TEST(Norm, BatchNormUsesItsOwnMomentsInTrainingAndTheRunningOnesElse) {
  const ThreeFeatures n(NormKind::kBatch);
  const Tensor x = TensorSource(3).normal({5, 3});
  for (const bool training : {false, true}) {
    ops::RunningMoments moments{n.view(2), n.view(3)};
    const Tensor expected =
        ops::batch_norm(x, n.view(0), n.view(1), moments, {.momentum = 1, .training = training}).value();
    Context context = n.context(training);
    ParameterArray gathered(n.table, DType::kFloat64);
    context.gradients = &gathered;
    expect_equal(n.norm.forward(context, x).value(), expected, "y");
    RunningStatistics(n.table).weight_shard(gathered, 0.25);
    for (int row = 0; row < 4; ++row) {
      Tensor share = Tensor::zeros({3}, DType::kFloat64);
      const Tensor& whole = row == 2 ? moments.mean : moments.variance;
      for (int c = 0; training && row >= 2 && c < 3; ++c) {
        share.data<double>()[c] = 0.25 * whole.data<double>()[c];
      }
      expect_equal(gathered.view(n.table, {row, 1}), share, "what is gathered of " + n.table[row].name);
    }
  }
}

// One row has no variance. It is normalized by the running averages, and these stay where they are.
TEST(Norm, ABatchOfOneRow) {
  const ThreeFeatures n(NormKind::kBatch);
  const Tensor x = TensorSource(4).normal({1, 3});
  Context use = n.context(false), training = n.context(true);
  ParameterArray gathered(n.table, DType::kFloat64);
  training.gradients = &gathered;
  expect_equal(n.norm.forward(training, x).value(), n.norm.forward(use, x).value(), "y");
  expect_equal(gathered.view(n.table, {2, 1}), n.view(2), "the mean");
  expect_equal(gathered.view(n.table, {3, 1}), n.view(3), "the variance");
}

TEST(Norm, RunningAveragesAreNotTrained) {
  const ThreeFeatures n(NormKind::kBatch);
  ASSERT_EQ(n.table.size(), 4);
  for (int row = 0; row < 4; ++row) {
    EXPECT_EQ(n.table[row].trained, row < 2) << n.table[row].name;
    EXPECT_EQ(n.table[row].momentum > 0, row >= 2) << n.table[row].name;
  }
  EXPECT_EQ(n.table[3].name, "n.running_var");
}

TEST(Norm, Gradients) {
  const Tensor x = TensorSource(5).normal({4, 3});
  for (const NormKind kind : {NormKind::kLayer, NormKind::kRms}) {
    const ThreeFeatures n(kind);
    expect_module_gradients(
        n.table, [&](Context& c, const auto& inputs) { return n.norm.forward(c, inputs[0]); }, {x});
  }
  // With the running averages as constants, and with those of the batch.
  const ThreeFeatures n(NormKind::kBatch);
  for (const bool training : {false, true}) {
    const auto normalise = [&](const std::vector<Var>& inputs) {
      Context context = n.context(training);
      ParameterArray gathered(n.table, DType::kFloat64);
      context.gradients = &gathered;
      return n.norm.forward(context, inputs[0]);
    };
    EXPECT_EQ(gradient_mismatch(normalise, {x}), "");
  }
}

}  // namespace
}  // namespace heed::nn
