// Recurrent layers and the attention of recurrent decoders, with their parameters.
#include "compare.h"
#include "nn/module_test.h"
#include "nn/recurrent/recurrent_attention.h"
#include "nn/recurrent/recurrent_decoder_layer.h"
#include "nn/recurrent/recurrent_layer.h"
#include "ops/columns.h"
#include "test_folder.h"

namespace heed::nn {
namespace {

constexpr RecurrentCell kCells[] = {RecurrentCell::kGru, RecurrentCell::kLstm};
constexpr AttentionScore kScores[] = {AttentionScore::kAdditive, AttentionScore::kDot,
                                      AttentionScore::kGeneral};
const std::vector<int32_t> kOffsets{0, 3, 4, 8}, kSourceOffsets{0, 2, 7, 8};

TEST(RecurrentLayer, GradientsOfAllParameters) {
  TensorSource source(1);
  for (const RecurrentCell cell : kCells) {
    for (const bool bidirectional : {false, true}) {
      ParameterTable table;
      const RecurrentLayer layer(
          table, "x.", {.cell = cell, .input_width = 4, .width = 3, .bidirectional = bidirectional});
      const Module module = [&](Context& context, const std::vector<Var>& x) {
        return layer.forward(context, x[0], kOffsets).states;
      };
      expect_module_gradients(table, module, {source.normal({8, 4})});
    }
  }
}

// Forward and backward exchange their places when a sentence is turned round, and their weights with them.
TEST(RecurrentLayer, BackwardIsForwardOfTheSentenceTurnedRound) {
  TensorSource source(2);
  ParameterTable table;
  const RecurrentLayer layer(table, "", {.input_width = 4, .width = 3, .bidirectional = true});
  ParameterArray values = random_parameters(table);
  ParameterArray exchanged(table, DType::kFloat64);
  for (int row = 0; row < table.size(); ++row) {
    std::string name = table[row].name;
    const bool forward = name.starts_with("forward");
    name.replace(0, forward ? 7 : 8, forward ? "backward" : "forward");
    for (int other = 0; other < table.size(); ++other) {
      if (table[other].name != name) continue;
      Tensor to = exchanged.view(table, {other, 1});
      std::copy_n(values.view(table, {row, 1}).data<double>(), to.size(), to.data<double>());
    }
  }
  const Tensor x = source.normal({5, 4});
  Tensor turned = Tensor::empty(x.shape(), x.dtype());
  for (int64_t t = 0; t < 5; ++t)
    std::copy_n(x.data<double>() + t * 4, 4, turned.data<double>() + (4 - t) * 4);
  Context context = context_for(table, values), other = context_for(table, exchanged);
  const Tensor a = layer.forward(context, x, {0, 5}).states.value();
  const Tensor b = layer.forward(other, turned, {0, 5}).states.value();
  for (int64_t t = 0; t < 5; ++t) {
    const Tensor left = a.narrow(0, t, 1).clone(), right = b.narrow(0, 4 - t, 1).clone();
    expect_equal(ops::columns(left, 0, 3).value(), ops::columns(right, 3, 3).value(), "forward");
    expect_equal(ops::columns(left, 3, 3).value(), ops::columns(right, 0, 3).value(), "backward");
  }
}

TEST(RecurrentAttention, GradientsOfAllParameters) {
  TensorSource source(3);
  const auto layout = ops::AttentionLayout::packed(kOffsets, kSourceOffsets);
  for (const AttentionScore score : kScores) {
    ParameterTable table;
    const RecurrentAttention attention(table, "",
                                       {.score = score, .state_width = 4, .annotation_width = 4, .width = 3});
    EXPECT_EQ(table.size(), score == AttentionScore::kAdditive ? 3 : score == AttentionScore::kDot ? 0 : 1);
    const Module module = [&](Context& context, const std::vector<Var>& x) {
      return attention.forward(context, x[0], x[1], layout).context;
    };
    expect_module_gradients(table, module, {source.normal({8, 4}), source.normal({8, 4})});
  }
}

TEST(RecurrentAttention, DotProductsNeedEqualWidths) {
  ParameterTable table;
  expect_error(ErrorKind::kShape, "as wide as an annotation, not 4 and 6", [&] {
    RecurrentAttention attention(table, "",
                                 {.score = AttentionScore::kDot, .state_width = 4, .annotation_width = 6});
  });
}

// The contexts of the layer are those of the attention alone, given the state before each token.
TEST(RecurrentDecoderLayer, ContextsAreThoseOfTheStateBefore) {
  TensorSource source(4);
  for (const AttentionScore score : kScores) {
    ParameterTable table;
    const RecurrentDecoderLayer layer(
        table, "",
        {.input_width = 5, .width = 4, .annotation_width = 4, .score = score, .attention_width = 3});
    const ParameterArray values = random_parameters(table);
    Context context = context_for(table, values);
    const Tensor annotations = source.normal({6, 4}), x = source.normal({3, 5});
    const auto layout = ops::AttentionLayout::packed({0, 3}, {0, 6});
    const Tensor start = source.normal({1, 4});
    const auto memory = layer.remember(context, annotations);
    const auto result = layer.forward(context, x, memory, layout, {.state = {start, 0, 4}});
    const Tensor states = ops::columns(result.output, 0, 4).value();
    Tensor before = Tensor::empty({3, 4}, DType::kFloat64);  // s_0, s_1, s_2
    std::copy_n(start.data<double>(), 4, before.data<double>());
    std::copy_n(states.data<double>(), 8, before.data<double>() + 4);
    ParameterTable alone_table;
    const RecurrentAttention alone(alone_table, "attention.",
                                   {.score = score, .state_width = 4, .annotation_width = 4, .width = 3});
    ParameterArray alone_values(alone_table, DType::kFloat64);
    for (int row = 0; row < alone_table.size(); ++row) {
      const int same = table.size() - alone_table.size() + row;
      ASSERT_EQ(table[same].name, alone_table[row].name);
      Tensor to = alone_values.view(alone_table, {row, 1});
      std::copy_n(values.view(table, {same, 1}).data<double>(), to.size(), to.data<double>());
    }
    Context alone_context = context_for(alone_table, alone_values);
    const auto expected = alone.forward(alone_context, before, annotations, layout);
    // Sums of four to six terms of size 1, and a softmax of them.
    expect_close(ops::columns(result.output, 4, 4).value(), expected.context.value(), 1e-14, "contexts");
    expect_close(result.weights, expected.weights, 1e-14, "weights");
  }
}

TEST(RecurrentDecoderLayer, GradientsOfAllParameters) {
  TensorSource source(5);
  const auto layout = ops::AttentionLayout::packed(kOffsets, kSourceOffsets);
  for (const RecurrentCell cell : kCells) {
    for (const AttentionScore score : kScores) {
      ParameterTable table;
      const RecurrentDecoderLayer layer(table, "",
                                        {.cell = cell,
                                         .input_width = 2,
                                         .width = 4,
                                         .annotation_width = 4,
                                         .score = score,
                                         .attention_width = 3});
      const Module module = [&](Context& context, const std::vector<Var>& x) {
        const auto memory = layer.remember(context, x[1]);
        return layer.forward(context, x[0], memory, layout, {{x[2], 0, 4}, {x[2], 4, 4}}).output;
      };
      expect_module_gradients(table, module,
                              {source.normal({8, 2}), source.normal({8, 4}), source.normal({3, 8})});
    }
  }
}

}  // namespace
}  // namespace heed::nn
