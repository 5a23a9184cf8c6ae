// The layer as an encoder's and as a decoder's.
#include <gtest/gtest.h>

#include <algorithm>

#include "compare.h"
#include "nn/module_test.h"
#include "nn/transformer_layer.h"
#include "ops/norms/layer_norm.h"

namespace heed::nn {
namespace {

LayerOptions small(bool norm_first) {
  return {.width = 4,
          .heads = 2,
          .inner_width = 6,
          .activation = Activation::kSwish,
          .norm_first = norm_first,
          .dropout = 0.2,
          .attention_dropout = 0.1,
          .activation_dropout = 0.1};
}

LayerOptions decoder(LayerOptions options) {
  options.stack = Stack::kDecoder;
  options.causal = options.cross_attention = true;
  return options;
}

const auto kSource = ops::AttentionLayout::packed({0, 3, 4, 8}, {0, 3, 4, 8});
const auto kTarget = ops::AttentionLayout::packed({0, 2, 4, 5}, {0, 2, 4, 5});
const auto kAcross = ops::AttentionLayout::packed({0, 2, 4, 5}, {0, 3, 4, 8});

TEST(TransformerLayer, GradientsOfAnEncoders) {
  for (const bool norm_first : {false, true}) {
    ParameterTable table;
    const TransformerLayer layer(table, "", small(norm_first), 0);
    for (const bool training : {false, true}) {
      expect_module_gradients(
          table, [&](Context& c, const auto& x) { return layer.forward(c, x[0], kSource); },
          {TensorSource(1).normal({8, 4}, DType::kFloat64, 2)}, training);
    }
  }
}

TEST(TransformerLayer, GradientsOfADecoders) {
  for (const bool norm_first : {false, true}) {
    ParameterTable table;
    const TransformerLayer layer(table, "", decoder(small(norm_first)), 0);
    for (const bool training : {false, true}) {
      expect_module_gradients(
          table,
          [&](Context& c, const auto& x) {
            const TransformerLayer::Memory memory{x[1], kAcross};
            return layer.forward(c, x[0], kTarget, {}, &memory);
          },
          {TensorSource(1).normal({5, 4}, DType::kFloat64, 2), TensorSource(2).normal({8, 4})}, training);
    }
  }
}

/// Every choice of decoder-only families: sandwich norms with 1 + weight, norms of queries and keys, a
/// window, a soft cap, shared keys and values, a gate.
LayerOptions with_every_choice() {
  LayerOptions options = small(true);
  options.stack = Stack::kDecoder;
  options.causal = true;
  options.norm = NormKind::kRms;
  options.norm_weight_offset = 1;
  options.key_value_heads = 1;
  options.score_cap = 2;
  options.attention_output_bias = false;
  options.window = {.left = 1};
  return options;
}
LayerNames names_of_every_choice() {
  LayerNames names;
  names.self_attention.query_norm = "q_norm";
  names.self_attention.key_norm = "k_norm";
  names.self_attention_norm = {"before_attention", "after_attention"};
  names.feed_forward_norm = {"before_feed_forward", "after_feed_forward"};
  names.gate = "gate";
  return names;
}

TEST(TransformerLayer, GradientsWithEveryChoice) {
  ParameterTable table;
  const TransformerLayer layer(table, "", with_every_choice(), 0, names_of_every_choice());
  const Module module = [&](Context& c, const std::vector<Var>& x) {
    return layer.forward(c, x[0], kSource);
  };
  for (const bool training : {false, true}) {
    // Norms of two features have large higher derivatives.
    EXPECT_EQ(gradient_mismatch(
                  with_parameters(table, module, training),
                  {TensorSource(1).normal({8, 4}, DType::kFloat64, 2), random_parameters(table).flat()},
                  {.step = 1e-4, .tolerance_factor = 100}),
              "");
  }
}

TEST(TransformerLayer, StepsWithEveryChoice) {
  constexpr int64_t kLength = 6, kWidth = 4;
  ParameterTable table;
  const TransformerLayer layer(table, "", with_every_choice(), 0, names_of_every_choice());
  const ParameterArray values = random_parameters(table, DType::kFloat32);
  Context context = context_for(table, values);
  const Tensor x = TensorSource(7).normal({kLength, kWidth}, DType::kFloat32);
  const Tensor expected =
      layer.forward(context, x, ops::AttentionLayout::padded(1, kLength, kLength)).value();
  LayerState state;
  state.self.reserve(kLength, layer.key_value_width());
  StepLayout own;
  for (int32_t t = 0; t < kLength; ++t) {
    own.new_rows = {t};
    own.key_rows.push_back(t);
    own.spans = {{0, 1, 0, t + 1}};
    const Tensor y = layer.step(context, x.narrow(0, t, 1), state, {own}).value();
    expect_close(y, expected.narrow(0, t, 1).clone(), 400 * 0x1p-23, "a step");
  }
}

// A sandwich norm stands between a sub-layer and its residual: where its factors are 0, nothing is added.
TEST(TransformerLayer, SandwichNormIsOfTheOutput) {
  ParameterTable table;
  const TransformerLayer layer(table, "", with_every_choice(), 0, names_of_every_choice());
  const ParameterArray values = random_parameters(table);
  const Tensor x = TensorSource(3).normal({8, 4});
  const auto run = [&] {
    Context context = context_for(table, values);
    return layer.forward(context, x, kSource).value();
  };
  EXPECT_NE(run().to_vector<double>(), x.to_vector<double>());
  for (int row = 0; row < table.size(); ++row) {
    Tensor view = values.view(table, {row, 1});
    if (table[row].name.starts_with("after_")) std::fill_n(view.data<double>(), view.size(), -1);
  }
  expect_equal(run(), x, "1 + weight = 0");
}

TEST(TransformerLayer, HasTheNamesOfHuggingFace) {
  ParameterTable table;
  const TransformerLayer layer(table, "model.encoder.layers.3.", small(false), 3);
  std::vector<std::string> names;
  for (int row = 0; row < table.size(); ++row) names.push_back(table[row].name);
  for (const char* name :
       {"self_attn.k_proj.weight", "self_attn.out_proj.bias", "self_attn_layer_norm.weight", "fc1.weight",
        "fc2.bias", "final_layer_norm.bias"}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), std::string("model.encoder.layers.3.") + name), 1)
        << name;
  }
  EXPECT_EQ(names.size(), 16u);
}

// Post-norm ends with a norm; pre-norm is the identity where its sub-layers give nothing.
TEST(TransformerLayer, PlacesOfTheNorm) {
  const Tensor x = TensorSource(3).normal({8, 4});
  const auto run = [&](bool norm_first) {
    ParameterTable table;
    const TransformerLayer layer(table, "", small(norm_first), 0);
    ParameterArray values(table, DType::kFloat64);  // all zeros, so every sub-layer gives 0
    for (int row = 0; row < table.size(); ++row) {
      Tensor view = values.view(table, {row, 1});
      if (table[row].initialization.kind == Initialization::Kind::kOnes)
        std::fill_n(view.data<double>(), view.size(), 1);
    }
    Context context = context_for(table, values);
    return layer.forward(context, x, kSource).value();
  };
  expect_equal(run(true), x, "pre-norm");
  const Tensor ones = Tensor::from<double>({1, 1, 1, 1}, {4}), zeros = Tensor::zeros({4}, DType::kFloat64);
  const Tensor once = ops::layer_norm(x, ones, zeros).value();
  expect_close(run(false), ops::layer_norm(once, ones, zeros).value(), 1e-14, "post-norm, twice");
}

TEST(TransformerLayer, IsBatchInvariant) {
  ParameterTable table;
  const TransformerLayer layer(table, "", {.width = 8, .heads = 2, .inner_width = 12}, 0);
  const ParameterArray values = random_parameters(table, DType::kFloat32);
  const PackedWeights packed(table, values);
  Context context = packed.context();
  const Tensor x = TensorSource(4).normal({8, 8}, DType::kFloat32);
  const Tensor together = layer.forward(context, x, kSource).value();
  for (const AttentionSpan& span : kSource.spans) {
    const Tensor alone = x.narrow(0, span.query_begin, span.queries()).clone();
    const auto layout = ops::AttentionLayout::padded(1, span.queries(), span.keys());
    expect_equal(layer.forward(context, alone, layout).value(),
                 together.narrow(0, span.query_begin, span.queries()).clone(), "to the last bit");
  }
  const auto one = ops::AttentionLayout::padded(1, 8, 8);
  EXPECT_NE(layer.forward(context, x, one).value().to_vector<float>(), together.to_vector<float>())
      << "the control: as one sequence, it is another";
}

TEST(TransformerLayer, CausalAttentionSeesNoLaterToken) {
  LayerOptions options = decoder(small(false));
  ParameterTable table, open_table;
  const TransformerLayer layer(table, "", options, 0);
  options.causal = false;
  const TransformerLayer open_layer(open_table, "", options, 0);
  const ParameterArray values = random_parameters(table);
  const Var memory = TensorSource(6).normal({3, 4});
  Tensor x = TensorSource(5).normal({5, 4});
  const auto self = ops::AttentionLayout::padded(1, 5, 5), cross = ops::AttentionLayout::padded(1, 5, 3);
  const auto run = [&](bool causal) {
    Context context = context_for(table, values);
    const TransformerLayer::Memory attended{memory, cross};
    return (causal ? layer : open_layer).forward(context, x, self, {}, &attended).value();
  };
  const Tensor before = run(true), before_open = run(false);
  x.data<double>()[4 * 4] += 1;  // the last token
  expect_equal(run(true).narrow(0, 0, 4).clone(), before.narrow(0, 0, 4).clone(), "earlier tokens");
  EXPECT_NE(run(true).narrow(0, 4, 1).to_vector<double>(), before.narrow(0, 4, 1).to_vector<double>());
  EXPECT_NE(run(false).narrow(0, 0, 1).to_vector<double>(), before_open.narrow(0, 0, 1).to_vector<double>())
      << "the control: without the mask, they are changed";
}

TEST(TransformerLayer, StepByStepIsTheSameAsAllAtOnce) {
  constexpr int64_t kLength = 6, kWidth = 8;
  for (const bool norm_first : {false, true}) {
    ParameterTable table;
    const TransformerLayer layer(
        table, "", decoder({.width = kWidth, .heads = 2, .inner_width = 12, .norm_first = norm_first}), 0);
    const ParameterArray values = random_parameters(table, DType::kFloat32);
    Context context = context_for(table, values);
    const Tensor x = TensorSource(7).normal({kLength, kWidth}, DType::kFloat32);
    const Var memory = TensorSource(8).normal({5, kWidth}, DType::kFloat32);
    const auto self = ops::AttentionLayout::padded(1, kLength, kLength);
    const auto cross = ops::AttentionLayout::padded(1, kLength, 5);
    const TransformerLayer::Memory attended{memory, cross};
    const Tensor expected = layer.forward(context, x, self, {}, &attended).value();
    LayerState state;
    state.memory_keys_values = layer.project_memory(context, memory).value();
    state.self.reserve(kLength, kWidth);
    StepLayout own, across;
    across.spans.push_back({0, 1, 0, 5});
    for (int32_t t = 0; t < kLength; ++t) {
      own.new_rows = {t};
      own.key_rows.push_back(t);
      own.spans = {{0, 1, 0, t + 1}};
      const Tensor y = layer.step(context, x.narrow(0, t, 1), state, {own, &across}).value();
      // Some hundred roundings of numbers of size 4, through two norms.
      expect_close(y, expected.narrow(0, t, 1).clone(), 400 * 0x1p-23, "a step");
    }
  }
}

}  // namespace
}  // namespace heed::nn
