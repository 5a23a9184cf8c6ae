#include "nn/attention.h"

#include <algorithm>

#include "compare.h"
#include "nn/module_test.h"
#include "test_folder.h"

namespace heed::nn {
namespace {

/// Keeps the weights that it receives.
class Listener : public AttentionSink {
 public:
  void receive(const AttentionLayerId& where, const Var& what, const ops::AttentionLayout&,
               int heads) override {
    layer_id = where;
    weights = what.value();
    head_count = heads;
    ++calls;
  }
  AttentionLayerId layer_id;
  Tensor weights;
  int head_count = 0, calls = 0;
};

struct Layer {
  explicit Layer(const MultiHeadAttention::Options& options = {.width = 6, .heads = 2},
                 DType dtype = DType::kFloat64)
      : attention(table, "", options), values(random_parameters(table, dtype)) {}
  Context context() const { return context_for(table, values); }
  ParameterTable table;
  MultiHeadAttention attention;
  ParameterArray values;
};

const auto kRagged = ops::AttentionLayout::packed({0, 3, 4, 4, 9}, {0, 3, 4, 4, 9});
const auto kCross = ops::AttentionLayout::packed({0, 2, 2, 5}, {0, 3, 4, 9});

TEST(MultiHeadAttention, OneProductOrThreeMakeNoDifference) {
  const Layer layer;
  const Tensor x = TensorSource(2).normal({9, 6});
  Context context = layer.context();
  const Tensor joined = layer.attention.forward(context, {x, x, x}, kRagged, {}).value();
  const Tensor apart = layer.attention.forward(context, {x, x.clone(), x.clone()}, kRagged, {}).value();
  const Tensor half = layer.attention.forward(context, {x.clone(), x, x}, kRagged, {}).value();
  expect_close(apart, joined, 1e-14, "three products");
  expect_close(half, joined, 1e-14, "one for queries, one for keys and values");
}

// A part that begins where the whole does is another sequence.
TEST(MultiHeadAttention, QueriesMayBeTheFirstOfTheKeys) {
  const Layer layer;
  const Tensor x = TensorSource(2).normal({9, 6}), first = x.narrow(0, 0, 2);
  Context context = layer.context();
  const auto layout = ops::AttentionLayout::packed({0, 2}, {0, 9});
  expect_close(layer.attention.forward(context, {first, x, x}, layout, {}).value(),
               layer.attention.forward(context, {first.clone(), x, x}, layout, {}).value(), 0, "y");
}

TEST(MultiHeadAttention, SinksReceiveWeightsAndChangeNothing) {
  const Layer layer({.width = 6, .heads = 3, .dropout = 0.3, .layer_id = {Stack::kCross, 4}});
  const Tensor x = TensorSource(3).normal({5, 6}), memory = TensorSource(4).normal({9, 6});
  for (const bool training : {false, true}) {
    const auto run = [&](AttentionSink* sink) {
      Context context = layer.context();
      context.training = training;
      context.random = RandomKey::from_seed(1);
      context.sink = sink;
      return layer.attention.forward(context, {x, memory, memory}, kCross, {.causal = true}).value();
    };
    Listener listener;
    expect_close(run(&listener), run(nullptr), 1e-13, "with the same dropout");
    EXPECT_EQ(listener.calls, 1);
    EXPECT_EQ(listener.layer_id.layer, 4);
    EXPECT_EQ(listener.layer_id.stack, Stack::kCross);
    EXPECT_EQ(listener.head_count, 3);
    ASSERT_EQ(listener.weights.size(), 3 * kCross.pairs());
    const std::vector<double> weights = listener.weights.to_vector<double>();
    double sum = 0;
    for (const double w : weights) sum += w;
    EXPECT_NEAR(sum, 3 * 5, 1e-12) << "before dropout, each query's weights sum to 1";
  }
}

TEST(MultiHeadAttention, Gradients) {
  const auto self = [](const Layer& layer, const ops::AttentionMask& mask) {
    return [&layer, mask](Context& c, const std::vector<Var>& x) {
      return layer.attention.forward(c, {x[0], x[0], x[0]}, kRagged, mask);
    };
  };
  const Tensor x = TensorSource(5).normal({9, 6}), memory = TensorSource(6).normal({9, 6});
  ops::AttentionMask padding{.causal = true};
  padding.key_visible = TensorSource(7).mask({9}, 0.7);
  for (const bool training : {false, true}) {
    const Layer layer({.width = 6, .heads = 2, .dropout = 0.3});
    expect_module_gradients(layer.table, self(layer, {.causal = true}), {x}, training);
    expect_module_gradients(layer.table, self(layer, padding), {x}, training);
    expect_module_gradients(
        layer.table,
        [&](Context& c, const auto& inputs) {
          return layer.attention.forward(c, {inputs[0], inputs[1], inputs[1]}, kCross, {});
        },
        {TensorSource(8).normal({5, 6}), memory}, training);
  }
  const Layer widths({.width = 4, .heads = 2, .key_width = 3, .value_width = 5, .bias = false});
  expect_module_gradients(
      widths.table,
      [&](Context& c, const auto& inputs) {
        return widths.attention.forward(c, {inputs[0], inputs[1], inputs[2]}, kCross, {});
      },
      {TensorSource(1).normal({5, 4}), TensorSource(2).normal({9, 3}), TensorSource(3).normal({9, 5})});
}

// Token by token, with a cache whose rows are used in any order, as when beams are reordered, is the same as
// all at once, up to `tolerance`; the cache is of type `cached`.
void expect_steps(DType cached, double tolerance) {
  constexpr int64_t kLength = 7, kWidth = 8;
  const Layer layer({.width = kWidth, .heads = 2}, DType::kFloat32);
  Context context = layer.context();
  const Tensor x = TensorSource(9).normal({2 * kLength, kWidth}, DType::kFloat32);  // two hypotheses
  const auto layout = ops::AttentionLayout::padded(2, kLength, kLength);
  const Tensor expected = layer.attention.forward(context, {x, x, x}, layout, {.causal = true}).value();
  KeyValueCache cache;
  std::vector<std::vector<int32_t>> paths(2);
  for (int64_t t = 0; t < kLength; ++t) {
    cache.reserve(2 * (t + 1), kWidth, cached);
    StepLayout steps;
    Tensor rows = Tensor::empty({2, kWidth});
    for (int32_t h = 0; h < 2; ++h) {
      std::copy_n(x.data<float>() + (h * kLength + t) * kWidth, kWidth, rows.data<float>() + h * kWidth);
      const auto row = static_cast<int32_t>(t % 2 == 0 ? 2 * t + h : 2 * t + 1 - h);
      steps.new_rows.push_back(row);
      paths[h].push_back(row);
      const auto begin = static_cast<int32_t>(steps.key_rows.size());
      steps.key_rows.insert(steps.key_rows.end(), paths[h].begin(), paths[h].end());
      steps.spans.push_back({h, h + 1, begin, static_cast<int32_t>(steps.key_rows.size())});
    }
    const Tensor y = layer.attention.step(context, rows, cache, steps).value();
    for (int64_t h = 0; h < 2; ++h) {
      expect_close(y.narrow(0, h, 1).clone(), expected.narrow(0, h * kLength + t, 1).clone(), tolerance,
                   "a step");
    }
  }
}

TEST(MultiHeadAttention, StepByStepIsTheSameAsAllAtOnce) {
  expect_steps(DType::kFloat32, 64 * 0x1p-23);
  expect_steps(DType::kFloat16, 8 * 0x1p-11);
}

TEST(MultiHeadAttention, StepsAcrossAreTheSameAsAllAtOnce) {
  const Layer layer({.width = 8, .heads = 4}, DType::kFloat32);
  Context context = layer.context();
  const Tensor x = TensorSource(10).normal({5, 8}, DType::kFloat32),
               memory = TensorSource(11).normal({9, 8}, DType::kFloat32);
  const Tensor expected = layer.attention.forward(context, {x, memory, memory}, kCross, {}).value();
  const Tensor projected = layer.attention.project_memory(context, memory).value();
  EXPECT_EQ(projected.shape().to_string(), "(9, 16)");
  const Tensor y = layer.attention.step_cross(context, x, projected, {kCross.spans, {}, {}}).value();
  expect_close(y, expected, 64 * 0x1p-23, "steps");
}

TEST(KeyValueCache, KeepsWhatIsThereWhenItGrows) {
  KeyValueCache cache;
  cache.reserve(2, 3);
  std::fill_n(cache.keys.data<float>(), 6, 1.0f);
  std::fill_n(cache.values.data<float>(), 6, 2.0f);
  cache.reserve(5, 3);
  EXPECT_EQ(cache.keys.dim(0), 5);
  EXPECT_EQ(cache.keys.data<float>()[5], 1.0f);
  EXPECT_EQ(cache.values.data<float>()[5], 2.0f);
  const void* before = cache.keys.bytes();
  cache.reserve(4, 3);
  EXPECT_EQ(cache.keys.bytes(), before) << "room enough";
}

TEST(MultiHeadAttention, HeadsMustDivideTheWidth) {
  ParameterTable table;
  expect_error(ErrorKind::kShape, "d_model 6 cannot be divided among 4 heads",
               [&] { MultiHeadAttention(table, "", {.width = 6, .heads = 4}); });
  expect_error(ErrorKind::kShape, "among 0 heads",
               [&] { MultiHeadAttention(table, "", {.width = 6, .heads = 0}); });
}

}  // namespace
}  // namespace heed::nn
