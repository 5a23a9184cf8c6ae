// Attention with materialized weights: scores, masked softmax, mix. flash_attention_test.cc compares the
// fused kernel with it.
#include "ops/attention/attention.h"

#include <cmath>

#include "compare.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

/// All columns of three variables.
AttentionOperands operands_of(const Var& query, const Var& key, const Var& value, int heads,
                              double scale = 0.7) {
  return {{query, 0, query.dim(-1)}, {key, 0, key.dim(-1)}, {value, 0, value.dim(-1)}, heads, scale};
}

/// softmax(scale Q K^T) V, one number at a time, for one sequence and one head.
std::vector<double> exact_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    double scale) {
  std::vector<double> mixed;
  for (int64_t q = 0; q < query.dim(0); ++q) {
    std::vector<double> weights;
    double sum = 0;
    for (int64_t k = 0; k < key.dim(0); ++k) {
      double score = 0;
      for (int64_t c = 0; c < key.dim(1); ++c) {
        score += query.data<double>()[q * query.dim(1) + c] * key.data<double>()[k * key.dim(1) + c];
      }
      weights.push_back(std::exp(scale * score));
      sum += weights.back();
    }
    for (int64_t c = 0; c < value.dim(1); ++c) {
      double mix = 0;
      for (int64_t k = 0; k < key.dim(0); ++k)
        mix += weights[k] / sum * value.data<double>()[k * value.dim(1) + c];
      mixed.push_back(mix);
    }
  }
  return mixed;
}

TEST(Attention, FollowsItsFormula) {
  TensorSource source(1);
  const Tensor query = source.normal({3, 5}), key = source.normal({4, 5}), value = source.normal({4, 2});
  const AttentionOperands x = operands_of(query, key, value, 1, 1 / std::sqrt(5.0));
  const AttentionLayout layout = AttentionLayout::padded(1, 3, 4);
  const Var weights = attention_softmax(attention_scores(x, layout), layout, 1, {});
  const Tensor expected = Tensor::from(exact_attention(query, key, value, x.scale), {3, 2});
  expect_close(attention_mix(weights, x, layout).value(), expected, 1e-14, "every weight");
  expect_close(flash_attention(x, layout, false).value(), expected, 1e-14, "streaming");
}

// Sequence by sequence, head by head: two heads and two sequences are four small problems.
TEST(Attention, HeadsAreColumnsAndSequencesAreRows) {
  TensorSource source(2);
  const Tensor query = source.normal({5, 6}), key = source.normal({7, 6}), value = source.normal({7, 4});
  const AttentionLayout layout = AttentionLayout::packed({0, 2, 5}, {0, 3, 7});
  EXPECT_EQ(layout.pairs(), 2 * 3 + 3 * 4);
  const AttentionOperands x = operands_of(query, key, value, 2);
  const Var weights = attention_softmax(attention_scores(x, layout), layout, 2, {});
  const Tensor mixed = attention_mix(weights, x, layout).value();
  for (const AttentionSpan& span : layout.spans) {
    for (int64_t head = 0; head < 2; ++head) {
      const auto part = [&](const Tensor& all, int64_t begin, int64_t count) {
        const int64_t width = all.dim(1) / 2;
        return all.narrow(0, begin, count).narrow(1, head * width, width).clone();
      };
      const Tensor expected = Tensor::from(exact_attention(part(query, span.query_begin, span.queries()),
                                                           part(key, span.key_begin, span.keys()),
                                                           part(value, span.key_begin, span.keys()), x.scale),
                                           {span.queries(), 2});
      expect_close(part(mixed, span.query_begin, span.queries()), expected, 1e-14, "a head of a sequence");
    }
  }
}

TEST(AttentionSoftmax, EachMaskHidesWhatItSays) {
  // One sequence, two heads, (Tq 2, Tk 3); equal scores, so that weights are 1 / number of visible keys.
  const AttentionLayout layout = AttentionLayout::padded(1, 2, 3);
  const Tensor scores = Tensor::zeros({12}, DType::kFloat64);
  const auto weights = [&](const AttentionMask& mask) {
    return attention_softmax(scores, layout, 2, mask).value();
  };
  const double third = 1.0 / 3, half = 0.5;
  const auto twice = [](std::vector<double> head) {
    const std::vector<double> copy = head;
    head.insert(head.end(), copy.begin(), copy.end());
    return Tensor::from(head, {12});
  };
  expect_close(weights({}), twice({third, third, third, third, third, third}), 1e-15, "no mask");
  // The last query sees the last key.
  expect_close(weights({.causal = true}), twice({half, half, 0, third, third, third}), 1e-15, "look-ahead");
  AttentionMask padding;
  padding.key_visible = Tensor::from<uint8_t>({1, 0, 1}, {3});
  expect_close(weights(padding), twice({half, 0, half, half, 0, half}), 1e-15, "padding");
  padding.causal = true;
  expect_close(weights(padding), twice({1, 0, 0, half, 0, half}), 1e-15, "both");
  AttentionMask general;
  general.visible = Tensor::from<uint8_t>({0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1}, {2, 2, 3});
  expect_close(weights(general),
               Tensor::from<double>({0, 1, 0, half, half, 0, third, third, third, 0, 0, 1}, {12}), 1e-15,
               "a mask for each head");
  AttentionMask bias;
  bias.bias = Tensor::from<double>({std::log(2), 0, 0, 0, 0, -INFINITY}, {2, 3});
  expect_close(weights(bias), twice({half, 0.25, 0.25, half, half, 0}), 1e-15, "bias");
}

TEST(AttentionSoftmax, AQueryThatSeesNothingHasNoWeightsAndNoGradients) {
  TensorSource source(3);
  const AttentionLayout layout = AttentionLayout::padded(1, 3, 4);
  AttentionMask mask;
  mask.visible = Tensor::from<uint8_t>({1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1}, {3, 4});
  Tape tape;
  const Var query = tape.leaf(source.normal({3, 2})), key = tape.leaf(source.normal({4, 2}));
  const Var value = tape.leaf(source.normal({4, 5}));
  const AttentionOperands x = operands_of(query, key, value, 1);
  const Var weights = attention_softmax(attention_scores(x, layout), layout, 1, mask);
  const Var mixed = attention_mix(weights, x, layout);
  expect_equal(weights.value().narrow(0, 4, 4).clone(), Tensor::zeros({4}, DType::kFloat64), "weights");
  expect_equal(mixed.value().narrow(0, 1, 1).clone(), Tensor::zeros({1, 5}, DType::kFloat64), "mix");
  tape.backward(mixed);
  expect_equal(tape.gradient(query).narrow(0, 1, 1).clone(), Tensor::zeros({1, 2}, DType::kFloat64),
               "gradient");
  double size = 0;
  for (const double g : tape.gradient(query).to_vector<double>()) size += std::abs(g);
  EXPECT_GT(size, 0.01) << "the other queries have one";
}

TEST(AttentionSoftmax, ABiasOfMinusInfinityHidesToo) {
  TensorSource source(4);
  const AttentionLayout layout = AttentionLayout::padded(2, 2, 3);
  const Tensor scores = source.normal({2 * 2 * 2 * 3});
  const std::vector<uint8_t> seen{1, 0, 1, 0, 0, 0};
  AttentionMask mask, bias;
  mask.visible = Tensor::from(seen, {2, 3});
  std::vector<double> added;
  for (const uint8_t one : seen) added.push_back(one != 0 ? 0 : -INFINITY);
  bias.bias = Tensor::from(added, {2, 3});
  expect_equal(attention_softmax(scores, layout, 2, bias).value(),
               attention_softmax(scores, layout, 2, mask).value(), "weights");
}

TEST(AttentionSoftmax, LargeScoresDoNotOverflow) {
  const AttentionLayout layout = AttentionLayout::padded(1, 1, 3);
  for (const double shift : {800.0, -800.0, 1e30}) {
    const Tensor scores = Tensor::from<double>({shift, shift, shift}, {3});
    expect_close(attention_softmax(scores, layout, 1, {}).value(),
                 Tensor::from<double>({1. / 3, 1. / 3, 1. / 3}, {3}), 1e-15, "weights");
  }
}

// Scores of a batch padded to one length, with a mask, against the same sequences without padding.
TEST(Attention, PaddedWithAMaskIsTheSameAsPacked) {
  constexpr int64_t kBatch = 3, kLength = 5, kWidth = 6;
  const std::vector<int32_t> lengths{5, 2, 4}, offsets{0, 5, 7, 11};
  TensorSource source(5);
  const Tensor padded = source.normal({kBatch * kLength, kWidth});
  Tensor packed = Tensor::empty({11, kWidth}, DType::kFloat64);
  std::vector<uint8_t> visible;
  int64_t row = 0;
  for (int64_t b = 0; b < kBatch; ++b) {
    for (int64_t t = 0; t < kLength; ++t) {
      visible.push_back(t < lengths[b] ? 1 : 0);
      if (t >= lengths[b]) continue;
      std::copy_n(padded.data<double>() + (b * kLength + t) * kWidth, kWidth,
                  packed.data<double>() + row++ * kWidth);
    }
  }
  for (const bool causal : {false, true}) {
    AttentionMask mask{.causal = causal};
    const auto run = [&](const Tensor& x, const AttentionLayout& layout) {
      const AttentionOperands all = operands_of(x, x, x, 2);
      return attention_mix(attention_softmax(attention_scores(all, layout), layout, 2, mask), all, layout)
          .value();
    };
    const Tensor expected = run(packed, AttentionLayout::packed(offsets, offsets));
    const auto worst = [&](const Tensor& actual) {
      double largest = 0;
      for (int64_t b = 0; b < kBatch; ++b) {
        for (int64_t i = 0; i < lengths[b] * kWidth; ++i) {
          largest = std::max(largest, std::abs(actual.data<double>()[b * kLength * kWidth + i] -
                                               expected.data<double>()[offsets[b] * kWidth + i]));
        }
      }
      return largest;
    };
    const AttentionLayout layout = AttentionLayout::padded(kBatch, kLength, kLength);
    mask.key_visible = Tensor::from(visible, {kBatch, kLength});
    EXPECT_LE(worst(run(padded, layout)), 1e-14);
    mask.key_visible = {};
    // The control: padding that is not masked changes the numbers, unless the look-ahead mask hides it
    // anyway.
    if (!causal) {
      EXPECT_GT(worst(run(padded, layout)), 0.01);
    }
  }
}

TEST(Attention, ErrorsNameTheShapes) {
  const auto zeros = [](const Shape& shape) { return Tensor::zeros(shape, DType::kFloat64); };
  const AttentionLayout layout = AttentionLayout::padded(1, 2, 3);
  const auto run = [&](const AttentionOperands& x) { flash_attention(x, layout, false); };
  expect_error(ErrorKind::kShape, "the width 5 of query cannot be divided among 2 heads", [&] {
    run(operands_of(zeros({2, 5}), zeros({3, 5}), zeros({3, 4}), 2));
  });
  expect_error(ErrorKind::kShape, "4 of query (2, 4) and 6 of key (3, 6)", [&] {
    run(operands_of(zeros({2, 4}), zeros({3, 6}), zeros({3, 4}), 2));
  });
  expect_error(ErrorKind::kShape, "key (3, 4) and value (5, 4)", [&] {
    run(operands_of(zeros({2, 4}), zeros({3, 4}), zeros({5, 4}), 2));
  });
  expect_error(ErrorKind::kShape, "queries [0, 2) and keys [0, 3) lies outside query (1, 4) and key (3, 4)",
               [&] {
                 run(operands_of(zeros({1, 4}), zeros({3, 4}), zeros({3, 4}), 2));
               });
  expect_error(ErrorKind::kShape, "columns [0, 9) of query lie outside (2, 4)", [&] {
    run({{zeros({2, 4}), 0, 9}, {zeros({3, 9}), 0, 9}, {zeros({3, 4}), 0, 4}, 1, 1});
  });
  expect_error(ErrorKind::kShape, "number of heads must be at least 1", [&] {
    run(operands_of(zeros({2, 4}), zeros({3, 4}), zeros({3, 4}), 0));
  });
  expect_error(ErrorKind::kShape, "2 sequences of queries for 1", [] {
    AttentionLayout::packed({0, 1, 2}, {0, 1});
  });
  expect_error(ErrorKind::kShape, "must not fall", [] { AttentionLayout::packed({0, 2, 1}, {0, 1, 2}); });
  expect_error(ErrorKind::kShape, "scores of (5) are not 1 heads times 6 pairs",
               [&] { attention_softmax(zeros({5}), layout, 1, {}); });
  expect_error(ErrorKind::kShape, "weights of (5) are not 1 heads times 6 pairs", [&] {
    attention_mix(zeros({5}), {.value = {zeros({3, 4}), 0, 4}}, layout);
  });
  expect_error(ErrorKind::kShape, "3 keys, but values of (2, 4)", [&] {
    attention_mix(zeros({6}), {.value = {zeros({2, 4}), 0, 4}}, layout);
  });
  AttentionMask mask;
  mask.visible = Tensor::zeros({3, 2}, DType::kUInt8);
  expect_error(ErrorKind::kShape, "a mask of (3, 2) does not fit scores of (B 1, H 1, Tq 2, Tk 3)",
               [&] { attention_softmax(zeros({6}), layout, 1, mask); });
  mask = {};
  mask.key_visible = Tensor::zeros({1, 2}, DType::kUInt8);
  expect_error(ErrorKind::kShape, "a padding mask of (1, 2) for 3 keys",
               [&] { attention_softmax(zeros({6}), layout, 1, mask); });
}

// ---- Derivatives ------------------------------------------------------------------------------------------

const AttentionLayout kRagged = AttentionLayout::packed({0, 3, 3, 4, 9}, {0, 2, 7, 8, 8});

GRADIENT_CHECK(attention_scores, RaggedSequences) {
  TensorSource source(6);
  expect_gradients([](const auto& x) { return attention_scores(operands_of(x[0], x[1], x[1], 3), kRagged); },
                   {source.normal({9, 6}), source.normal({8, 6})});
}

// Queries and keys in the columns of one variable, as a joined projection makes them.
GRADIENT_CHECK(attention_scores, ColumnsOfOneVariable) {
  TensorSource source(7);
  expect_gradients(
      [](const auto& x) {
        return attention_scores({{x[0], 0, 4}, {x[0], 4, 4}, {x[0], 8, 4}, 2, 0.5},
                                AttentionLayout::padded(2, 3, 3));
      },
      {source.normal({6, 12})});
}

GRADIENT_CHECK(attention_softmax, EveryMaskAndBias) {
  TensorSource source(8);
  const AttentionLayout layout = AttentionLayout::padded(2, 3, 5);
  const Tensor scores = source.normal({2 * 2 * 3 * 5});
  for (const Shape& shape :
       {Shape{3, 5}, Shape{2, 3, 5}, Shape{2, 1, 3, 5}, Shape{1, 2, 3, 5}, Shape{2, 2, 3, 5}}) {
    AttentionMask mask;
    mask.visible = source.mask(shape, 0.6);
    mask.key_visible = source.mask({2, 5}, 0.7);
    mask.causal = shape.rank() == 3;
    expect_gradients(
        [&](const auto& x) {
          AttentionMask with_bias = mask;
          with_bias.bias = x[1];
          return attention_softmax(x[0], layout, 2, with_bias);
        },
        {scores, source.normal(shape)});
  }
}

GRADIENT_CHECK(attention_softmax, RaggedSequences) {
  TensorSource source(9);
  for (const bool causal : {false, true}) {
    expect_gradients([&](const auto& x) { return attention_softmax(x[0], kRagged, 2, {.causal = causal}); },
                     {source.normal({2 * kRagged.pairs()})});
  }
}

GRADIENT_CHECK(attention_mix, RaggedSequences) {
  TensorSource source(10);
  expect_gradients(
      [](const auto& x) {
        return attention_mix(x[0], {.value = {x[1], 1, 6}, .heads = 2}, kRagged);
      },
      {source.normal({2 * kRagged.pairs()}), source.normal({8, 9})});
}

}  // namespace
}  // namespace heed::ops
