// Self-attention with relative positions.
#include "nn/positions/relative_positions.h"

#include <algorithm>
#include <numeric>

#include "compare.h"
#include "nn/attention.h"
#include "nn/module_test.h"
#include "ops/elementwise.h"
#include "test_folder.h"

namespace heed::nn {
namespace {

constexpr int64_t kModelWidth = 8;
constexpr int kHeads = 2;

/// All that are part of self-attention, with distances small enough to be clipped in short texts.
std::vector<PositionOptions> relative_kinds() {
  std::vector<PositionOptions> kinds;
  for (const PositionKind kind : {PositionKind::kRelative, PositionKind::kBuckets, PositionKind::kRotary,
                                  PositionKind::kRotaryInterleaved}) {
    kinds.push_back({.kind = kind, .max_relative_distance = 2, .buckets = 8, .bucket_max_distance = 6});
  }
  return kinds;
}

struct RelativeLayer {
  explicit RelativeLayer(const PositionOptions& wanted, DType dtype = DType::kFloat64, double dropout = 0)
      : options(wanted),
        attention(table, "",
                  {.width = kModelWidth,
                   .heads = kHeads,
                   .dropout = dropout,
                   .relative = RelativePositions(table, "", wanted, kHeads, kModelWidth / kHeads)}),
        values(random_parameters(table, dtype)) {}

  Context context() const { return context_for(table, values); }
  std::optional<ops::RotaryAngles> angles(const std::vector<int32_t>& positions, DType dtype) const {
    return rotary_angles(options, positions, kModelWidth / kHeads, dtype);
  }
  /// Each sequence of the layout, with positions from `first` on.
  Var forward(Context& context, const Var& x, const ops::AttentionLayout& layout, bool causal,
              int32_t first = 0) const {
    std::vector<int32_t> positions;
    for (const AttentionSpan& span : layout.spans) {
      for (int32_t row = span.query_begin; row < span.query_end; ++row) {
        positions.push_back(first + row - span.query_begin);
      }
    }
    const auto turns = angles(positions, x.dtype());
    return attention.forward_self(context, x, layout, {.causal = causal},
                                  {.angles = turns ? &*turns : nullptr});
  }

  PositionOptions options;
  ParameterTable table;
  MultiHeadAttention attention;
  ParameterArray values;
};

const auto kRaggedLines = ops::AttentionLayout::packed({0, 3, 4, 9}, {0, 3, 4, 9});

TEST(RelativePositions, Gradients) {
  for (const PositionOptions& options : relative_kinds()) {
    const RelativeLayer layer(options, DType::kFloat64, 0.3);
    for (const bool training : {false, true}) {
      expect_module_gradients(
          layer.table,
          [&](Context& c, const auto& x) { return layer.forward(c, x[0], kRaggedLines, training); },
          {TensorSource(1).normal({9, kModelWidth})}, training);
    }
  }
}

TEST(RelativePositions, IsBatchInvariantAndIndependentOfSinks) {
  struct WeightSink : AttentionSink {
    void receive(const AttentionLayerId&, const Var& told, const ops::AttentionLayout&, int) override {
      weights = told.value();
    }
    Tensor weights;
  };
  for (const PositionOptions& options : relative_kinds()) {
    const RelativeLayer layer(options, DType::kFloat32);
    const Tensor x = TensorSource(2).normal({9, kModelWidth}, DType::kFloat32);
    Context context = layer.context();
    const PackedWeights packed(*context.table, *context.values);
    context = packed.context();
    Context listened = context;
    WeightSink listener;
    listened.sink = &listener;
    const Tensor together = layer.forward(context, x, kRaggedLines, true).value();
    expect_close(layer.forward(listened, x, kRaggedLines, true).value(), together, 64 * 0x1p-23, "listening");
    ASSERT_EQ(listener.weights.size(), kHeads * kRaggedLines.pairs());
    const std::vector<double> weights = listener.weights.to_vector<double>();
    EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), kHeads * 9, 1e-5);
    for (const AttentionSpan& span : kRaggedLines.spans) {
      const Tensor alone = x.narrow(0, span.query_begin, span.queries()).clone();
      const auto one = ops::AttentionLayout::padded(1, span.queries(), span.queries());
      expect_equal(layer.forward(context, alone, one, true).value(),
                   together.narrow(0, span.query_begin, span.queries()).clone(), "together");
    }
  }
}

// What sinks receive: the bias is what relative positions add to scaled products, and the mask is the one
// that the weights obey.
TEST(RelativePositions, SinksReceiveTheBias) {
  struct ScoreSink : AttentionSink {
    void receive(const AttentionLayerId&, const Var& told, const ops::AttentionLayout&, int) override {
      weights = told.value().to_vector<double>();
    }
    bool wants_operands() const override { return true; }
    void receive_operands(const AttentionLayerId&, const ops::AttentionOperands& operands,
                          const AttentionScores& told, const ops::AttentionLayout& layout) override {
      scores = told;
      products = ops::attention_scores(operands, layout).value();
    }
    std::vector<double> weights;
    AttentionScores scores;
    Tensor products;
  };
  for (const PositionOptions& options : relative_kinds()) {
    const RelativeLayer layer(options);
    ScoreSink sink;
    Context context = layer.context();
    context.sink = &sink;
    layer.forward(context, TensorSource(2).normal({9, kModelWidth}), kRaggedLines, true);
    const bool biased = options.kind == PositionKind::kRelative || options.kind == PositionKind::kBuckets;
    ASSERT_EQ(sink.scores.bias.defined(), biased);
    const Tensor sum = biased ? ops::add(sink.products, sink.scores.bias).value() : sink.products;
    expect_close(sink.scores.scores, sum, 1e-14, "scores");
    if (biased) {
      EXPECT_GT(largest_difference(sink.scores.scores, sink.products), 1e-3);
    }
    const auto visible = sink.scores.visible.to_vector<uint8_t>();
    ASSERT_EQ(visible.size(), sink.weights.size());
    for (size_t n = 0; n < visible.size(); ++n) EXPECT_EQ(visible[n] != 0, sink.weights[n] > 0);
  }
}

// The same tokens in another order: the output of a token changes with positions, and does not without.
TEST(RelativePositions, DependOnOrderNotOnAbsolutePosition) {
  const auto layout = ops::AttentionLayout::padded(1, 5, 5);
  const Tensor x = TensorSource(3).normal({5, kModelWidth});
  Tensor exchanged = x.clone();
  std::swap_ranges(exchanged.data<double>(), exchanged.data<double>() + kModelWidth,
                   exchanged.data<double>() + 2 * kModelWidth);  // tokens 0 and 2
  const auto third_of_exchanged = [&](const RelativeLayer& layer) {
    Context context = layer.context();
    return layer.forward(context, exchanged, layout, false).value().narrow(0, 2, 1).clone();
  };
  const auto first = [&](const RelativeLayer& layer, int32_t at) {
    Context context = layer.context();
    return layer.forward(context, x, layout, false, at).value().narrow(0, 0, 1).clone();
  };
  const RelativeLayer none({.kind = PositionKind::kNone});
  expect_close(third_of_exchanged(none), first(none, 0), 1e-14, "a set of tokens");
  for (const PositionOptions& options : relative_kinds()) {
    const RelativeLayer layer(options);
    EXPECT_GT(largest_difference(third_of_exchanged(layer), first(layer, 0)), 1e-3);
    expect_close(first(layer, 40), first(layer, 0), 1e-12, "moved by forty positions");
  }
}

// The first tokens at once into the cache, as a prompt is, and the others one by one, in rows that lie
// anywhere.
TEST(RelativePositions, PromptAndStepsAreTheSameAsAllAtOnce) {
  constexpr int64_t kLength = 9, kPrompt = 4;
  const std::vector<int32_t> cache_rows{7, 3, 0, 8, 5, 1, 6, 2, 4};
  for (PositionOptions options : relative_kinds()) {
    options.bidirectional = false;
    const RelativeLayer layer(options, DType::kFloat32);
    Context context = layer.context();
    const Tensor x = TensorSource(4).normal({kLength, kModelWidth}, DType::kFloat32);
    const Tensor expected =
        layer.forward(context, x, ops::AttentionLayout::padded(1, kLength, kLength), true).value();
    KeyValueCache cache;
    cache.reserve(kLength, kModelWidth);
    const auto turns = layer.angles({0, 1, 2, 3}, DType::kFloat32);
    const Tensor prompt = layer.attention
                              .forward_self(context, x.narrow(0, 0, kPrompt).clone(),
                                            ops::AttentionLayout::padded(1, kPrompt, kPrompt),
                                            {.causal = true}, {turns ? &*turns : nullptr, &cache, cache_rows})
                              .value();
    expect_close(prompt, expected.narrow(0, 0, kPrompt).clone(), 64 * 0x1p-23, "the prompt");
    for (int32_t t = kPrompt; t < kLength; ++t) {
      StepLayout steps;
      steps.key_rows.assign(cache_rows.begin(), cache_rows.begin() + t + 1);
      steps.new_rows = {cache_rows[t]};
      steps.spans = {{0, 1, 0, t + 1}};
      const auto turn = layer.angles({t}, DType::kFloat32);
      const Tensor y =
          layer.attention.step(context, x.narrow(0, t, 1).clone(), cache, steps, turn ? &*turn : nullptr)
              .value();
      expect_close(y, expected.narrow(0, t, 1).clone(), 64 * 0x1p-23, "a step");
    }
  }
}

// T5 and MPNet: all layers add the same bias, which one table holds. MPNet's table may have more rows than
// there are buckets.
TEST(RelativePositions, LayersShareABiasWhoseTableMayBeLarger) {
  const auto sum_of_layers = [](int64_t table_rows, bool shared) {
    ParameterTable table;
    const auto distances = ops::Distances::buckets({.buckets = 8, .reach = 6, .table_rows = table_rows});
    std::vector<MultiHeadAttention> layers;
    RelativePositions bias(table, "encoder.relative_attention_bias", distances, kHeads);
    for (int n = 0; n < 2; ++n) {
      if (!shared && n > 0) bias = RelativePositions(table, "own", distances, kHeads);
      layers.emplace_back(
          table, std::to_string(n),
          MultiHeadAttention::Options{.width = kModelWidth, .heads = kHeads, .relative = bias});
    }
    EXPECT_EQ(table[0].name, "encoder.relative_attention_bias.weight");
    EXPECT_EQ(table[0].shape, (Shape{table_rows, kHeads}));
    const Module module = [&](Context& context, const auto& inputs) {
      return ops::add(layers[0].forward_self(context, inputs[0], kRaggedLines, {}),
                      layers[1].forward_self(context, inputs[0], kRaggedLines, {}));
    };
    expect_module_gradients(table, module, {TensorSource(5).normal({9, kModelWidth})});
    return table.size();
  };
  EXPECT_EQ(sum_of_layers(8, true), sum_of_layers(12, true));
  EXPECT_EQ(sum_of_layers(8, true) + 1, sum_of_layers(8, false));
  expect_error(ErrorKind::kUsage, "8 buckets need a table of as many rows, not 7",
               [] { ops::Distances::buckets({.buckets = 8, .reach = 6, .table_rows = 7}); });
}

TEST(RelativePositions, NamesAndShapesOfTheirTables) {
  const auto shapes = [](PositionKind kind) {
    ParameterTable table;
    const RelativePositions positions(table, "p.", {.kind = kind}, 8, 64);
    EXPECT_EQ(positions.defined(), table.size() > 0);
    std::string all;
    for (int row = 0; row < table.size(); ++row) all += table[row].name + table[row].shape.to_string() + " ";
    return all;
  };
  EXPECT_EQ(shapes(PositionKind::kRelative), "p.relative_keys(33, 64) p.relative_values(33, 64) ");
  EXPECT_EQ(shapes(PositionKind::kBuckets), "p.relative_attention_bias.weight(32, 8) ");
  EXPECT_EQ(shapes(PositionKind::kRotary), "");
  EXPECT_EQ(shapes(PositionKind::kSinusoidal), "");
}

}  // namespace
}  // namespace heed::nn
