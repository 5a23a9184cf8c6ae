#include "nn/context.h"

#include <thread>
#include <vector>

#include "compare.h"
#include "nn/module_test.h"

namespace heed::nn {
namespace {

TEST(Context, DropoutIsOnInTrainingOnlyAndCounted) {
  Context context;
  context.random = RandomKey::from_seed(1);
  EXPECT_FALSE(context.next_dropout(0.5).active());
  context.training = true;
  EXPECT_FALSE(context.next_dropout(0).active());
  const DropoutStream first = context.next_dropout(0.5), second = context.next_dropout(0.5);
  EXPECT_TRUE(first.active());
  EXPECT_NE(std::pair(first.key.low, first.key.high), std::pair(second.key.low, second.key.high));
  Context again;
  again.random = context.random;
  again.training = true;
  const DropoutStream same = again.next_dropout(0.5);
  EXPECT_EQ(std::pair(first.key.low, first.key.high), std::pair(same.key.low, same.key.high))
      << "the same forward pass";
}

TEST(Context, GradientsOfParametersAreAddedUpInTheArray) {
  ParameterTable table;
  const ParamRef trained = table.add({"trained", {3}, {}, {}});
  const ParamRef fixed = table.add({"fixed", {3}, {}, {}, false});
  const ParameterArray values = random_parameters(table);
  const ParameterArray gradients(table, DType::kFloat64);
  Context context = context_for(table, values);
  EXPECT_FALSE(context.parameter(trained).wants_gradient());
  Tape tape;
  context.tape = &tape;
  context.gradients = &gradients;
  EXPECT_FALSE(context.parameter(fixed).wants_gradient()) << "not trained";
  for (int n = 0; n < 2; ++n) tape.backward(context.parameter(trained), Tensor::from<double>({1, 2, 3}, {3}));
  expect_equal(gradients.flat(), Tensor::from<double>({2, 4, 6, 0, 0, 0}, {6}), "twice");
}

TEST(PackedWeights, ArePackedOnce) {
  ParameterTable table;
  const ParamRef weight = table.add({"w", {4, 3}, {}, {}}), bias = table.add({"b", {4}, {}, {}});
  const ProductRef with = table.add_product(weight, bias), without = table.add_product(weight);
  const ParameterArray values = random_parameters(table, DType::kFloat32);
  const PackedWeights packed(table, values);
  const Context context = packed.context();
  const PackedMatrix* matrix = context.packed_matrix(with);
  ASSERT_NE(matrix, nullptr);
  EXPECT_EQ(matrix->out(), 4);
  EXPECT_EQ(matrix->in(), 3);
  EXPECT_EQ(&packed[with], matrix);
  EXPECT_NE(&packed[without], matrix) << "another product of the same weight";
  Context training = context;
  Tape tape;
  training.tape = &tape;
  EXPECT_EQ(training.packed_matrix(with), nullptr) << "weights change in training";
}

// Several threads may ask first.
TEST(PackedWeights, AreOneMatrixForAllThreads) {
  ParameterTable table;
  const ProductRef product = table.add_product(table.add({"w", {64, 64}, {}, {}}));
  const ParameterArray values = random_parameters(table, DType::kFloat32);
  const PackedWeights packed(table, values);
  std::vector<const PackedMatrix*> found(4);
  std::vector<std::thread> threads;
  for (const PackedMatrix*& each : found) threads.emplace_back([&] { each = &packed[product]; });
  for (std::thread& thread : threads) thread.join();
  for (const PackedMatrix* each : found) EXPECT_EQ(each, found[0]);
}

}  // namespace
}  // namespace heed::nn
