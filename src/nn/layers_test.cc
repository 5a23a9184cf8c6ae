// The small layers: linear, norm, feed-forward, positions.
#include <gtest/gtest.h>

#include <cmath>

#include "compare.h"
#include "nn/differentiable_weights.h"
#include "nn/feed_forward.h"
#include "nn/linear.h"
#include "nn/module_test.h"
#include "nn/norms/layer_norm.h"
#include "nn/positions/positions.h"
#include "nn/positions/sinusoids.h"
#include "ops/linear.h"
#include "ops/norms/layer_norm.h"

namespace heed::nn {
namespace {

TEST(Linear, JoinedIsTheSameAsItsSlices) {
  ParameterTable table;
  const Linear joined = Linear::join(table, {"a", "b", "c"}, 5, 4);
  ASSERT_EQ(table.size(), 6);
  EXPECT_EQ(table[0].name, "a.weight");
  EXPECT_EQ(table[5].name, "c.bias");
  const ParameterArray values = random_parameters(table);
  Context context = context_for(table, values);
  const Tensor x = TensorSource(2).normal({3, 5}), all = joined.forward(context, x).value();
  EXPECT_EQ(all.shape().to_string(), "(3, 12)");
  for (int n = 0; n < 3; ++n) {
    const Tensor expected =
        ops::linear(x, values.view(table, {n, 1}), values.view(table, {3 + n, 1})).value();
    expect_equal(all.narrow(1, 4 * n, 4).clone(), expected, "columns of the joined product");
    expect_equal(joined.slice(table, n).forward(context, x).value(), expected, "a slice");
  }
  EXPECT_EQ(joined.slice(table, 1, 2).forward(context, x).shape().to_string(), "(3, 8)");
}

TEST(Linear, PackedWeightsGiveTheSame) {
  ParameterTable table;
  for (const bool bias : {false, true}) {
    const Linear linear(table, bias ? "with" : "without", 33, 17, bias);
    EXPECT_EQ(linear.bias().defined(), bias);
    const ParameterArray values = random_parameters(table, DType::kFloat32);
    Context context = context_for(table, values);
    const Tensor x = TensorSource(2).normal({5, 33}, DType::kFloat32),
                 plain = linear.forward(context, x).value();
    const PackedWeights packed(table, values);
    context = packed.context();
    // Two orders of a sum of 33 products of size 1/2.
    expect_close(linear.forward(context, x).value(), plain, 33 * 4 * 0x1p-23, "packed");
  }
}

/// With weights for gradients of inputs alone, the value is that of packed weights, and the gradient that of
/// training.
TEST(Linear, DifferentiableWeightsGiveTheSame) {
  ParameterTable table;
  const Linear linear(table, "x", 33, 17);
  const ParameterArray values = random_parameters(table, DType::kFloat32);
  const Tensor x = TensorSource(2).normal({5, 33}, DType::kFloat32),
               upstream = TensorSource(3).normal({5, 17}, DType::kFloat32);
  const PackedWeights packed(table, values);
  Context inference = packed.context(), plain = context_for(table, values);
  Tape plain_tape;
  const Var plain_leaf = plain_tape.leaf(x.clone());
  plain_tape.backward(linear.forward(plain, plain_leaf), upstream);
  for (const PackedWeights* own : {static_cast<const PackedWeights*>(nullptr), &packed}) {
    const DifferentiableWeights weights(table, values, nullptr, own);
    Context context = context_for(table, values);
    context.differentiable = &weights;
    Tape tape;
    const Var leaf = tape.leaf(x.clone());
    const Var y = linear.forward(context, leaf);
    expect_equal(y.value(), linear.forward(inference, x).value(), "value");
    EXPECT_FALSE(linear.forward(context, x).wants_gradient());
    tape.backward(y, upstream);
    expect_close(tape.gradient(leaf), plain_tape.gradient(plain_leaf), 17 * 4 * 0x1p-23, "gradient");
  }
}

TEST(Linear, Gradients) {
  ParameterTable table;
  const Linear linear(table, "x", 3, 4);
  expect_module_gradients(table, [&](Context& c, const auto& x) { return linear.forward(c, x[0]); },
                          {TensorSource(1).normal({5, 3})});
  ParameterTable joined_table;
  const Linear joined = Linear::join(joined_table, {"a", "b"}, 3, 2);
  const Linear first = joined.slice(joined_table, 0), second = joined.slice(joined_table, 1);
  const auto use_all = [&](Context& c, const std::vector<Var>& x) {
    return ops::linear(first.forward(c, x[0]), second.forward(c, x[1]));
  };
  expect_module_gradients(joined_table, use_all,
                          {TensorSource(1).normal({4, 3}), TensorSource(2).normal({5, 3})});
}

TEST(LayerNorm, UsesItsParameters) {
  ParameterTable table;
  const LayerNorm norm(table, "norm", 6);
  const ParameterArray values = random_parameters(table);
  Context context = context_for(table, values);
  const Tensor x = TensorSource(2).normal({3, 6});
  expect_equal(norm.forward(context, x).value(),
               ops::layer_norm(x, values.view(table, {0, 1}), values.view(table, {1, 1})).value(), "y");
  expect_module_gradients(table, [&](Context& c, const auto& inputs) { return norm.forward(c, inputs[0]); },
                          {TensorSource(3).normal({3, 6}, DType::kFloat64, 2)});
}

TEST(FeedForward, IsTwoLinearLayersAroundAnActivation) {
  ParameterTable table;
  const FeedForward layer(table, "", {.width = 3, .inner_width = 5});
  EXPECT_EQ(table[0].name, "fc1.weight");
  EXPECT_EQ(table[2].name, "fc2.weight");
  const ParameterArray values = random_parameters(table);
  Context context = context_for(table, values);
  const Tensor x = TensorSource(2).normal({2, 3}), y = layer.forward(context, x).value();
  const auto view = [&](int row) { return values.view(table, {row, 1}); };
  Tensor inner = ops::linear(x, view(0), view(1)).value();
  for (int64_t i = 0; i < inner.size(); ++i) inner.data<double>()[i] = std::max(0.0, inner.data<double>()[i]);
  expect_close(y, ops::linear(inner, view(2), view(3)).value(), 1e-15, "y");
}

TEST(FeedForward, Gradients) {
  ParameterTable table;
  const FeedForward layer(
      table, "", {.width = 3, .inner_width = 5, .activation = Activation::kSwish, .activation_dropout = 0.3});
  for (const bool training : {false, true}) {
    expect_module_gradients(
        table, [&](Context& c, const auto& x) { return layer.forward(c, x[0]); },
        {TensorSource(1).normal({4, 3})}, training);
  }
}

TEST(SinusoidalPositions, FollowTheFormula) {
  const Tensor paper = sinusoid_table(4, 6, SinusoidLayout::kInterleaved, DType::kFloat64);
  const Tensor halves = sinusoid_table(4, 6, SinusoidLayout::kHalves, DType::kFloat64);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t k = 0; k < 3; ++k) {
      const double angle = static_cast<double>(i) / std::pow(10000, 2.0 * static_cast<double>(k) / 6);
      EXPECT_DOUBLE_EQ(paper.data<double>()[i * 6 + 2 * k], std::sin(angle));
      EXPECT_DOUBLE_EQ(paper.data<double>()[i * 6 + 2 * k + 1], std::cos(angle));
      EXPECT_DOUBLE_EQ(halves.data<double>()[i * 6 + k], std::sin(angle));
      EXPECT_DOUBLE_EQ(halves.data<double>()[i * 6 + 3 + k], std::cos(angle));
    }
  }
}

TEST(SinusoidalPositions, AreAsExactAsAFloatFarFromTheBeginning) {
  const Tensor exact = sinusoid_table(600, 7, SinusoidLayout::kHalves, DType::kFloat64);
  const Tensor floats = sinusoid_table(600, 7, SinusoidLayout::kHalves, DType::kFloat32);
  for (int64_t n = 0; n < exact.size(); ++n) {
    // Half a unit in the last place of a float below 1, and what some turns of doubles add.
    EXPECT_NEAR(static_cast<double>(floats.data<float>()[n]), exact.data<double>()[n], 0x1p-25 + 0x1p-40);
  }
}

TEST(SinusoidalPositions, OddWidthsHaveASineMore) {
  const Tensor table = sinusoid_table(2, 3, SinusoidLayout::kInterleaved, DType::kFloat64);
  EXPECT_DOUBLE_EQ(table.data<double>()[3], std::sin(1));
  EXPECT_DOUBLE_EQ(table.data<double>()[4], std::cos(1));
  EXPECT_DOUBLE_EQ(table.data<double>()[5], std::sin(std::pow(10000, -2.0 / 3)));
  EXPECT_EQ(sinusoid_table(2, 1, SinusoidLayout::kHalves).shape().to_string(), "(2, 1)");
}

TEST(SinusoidalPositions, LargePositionsKeepTheirPrecisionInFloat32) {
  const Tensor single = sinusoid_table(5000, 8, SinusoidLayout::kHalves, DType::kFloat32);
  const Tensor exact = sinusoid_table(5000, 8, SinusoidLayout::kHalves, DType::kFloat64);
  expect_close(single, exact, 0x1p-24, "half a unit in the last place of 1");
}

}  // namespace
}  // namespace heed::nn
