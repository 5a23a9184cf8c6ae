#include "heed/attention.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_pool.h"
#include "compare.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed {
namespace {

MultiHeadAttention layer_of(int64_t width, int heads, DType dtype = DType::kFloat64, double dropout = 0) {
  MultiHeadAttentionOptions options;
  options.d_model = width;
  options.heads = heads;
  options.dropout = dropout;
  options.dtype = dtype;
  return MultiHeadAttention(options);
}

void expect_rows_sum_to_one(const Tensor& weights) {
  const std::vector<double> values = weights.to_vector<double>();
  const auto keys = static_cast<size_t>(weights.dim(-1));
  for (size_t row = 0; row < values.size(); row += keys) {
    double sum = 0;
    for (size_t k = 0; k < keys; ++k) sum += values[row + k];
    ASSERT_NEAR(sum, 1, 1e-6);
  }
}

TEST(Masks, ArePictures) {
  expect_equal(padding_mask({3, 1, 0}, 3), Tensor::from<uint8_t>({1, 1, 1, 1, 0, 0, 0, 0, 0}, {3, 3}),
               "padding");
  expect_equal(look_ahead_mask(3), Tensor::from<uint8_t>({1, 0, 0, 1, 1, 0, 1, 1, 1}, {3, 3}), "look-ahead");
  expect_error(ErrorKind::kShape, "sentence 1 of 4 tokens does not fit a length of 3", [] {
    padding_mask({1, 4}, 3);
  });
}

// A tensor with 1..4608 in order: which number lands where.
TEST(SplitHeads, ShowsWhichNumberLandsWhere) {
  std::vector<double> numbers;
  for (int n = 1; n <= 4608; ++n) numbers.push_back(n);
  const Tensor x = Tensor::from(numbers, {1, 9, 512}), split = split_heads(x, 8);
  ASSERT_EQ(split.shape().to_string(), "(1, 8, 9, 64)");
  for (int64_t head = 0; head < 8; ++head) {
    for (int64_t token = 0; token < 9; ++token) {
      for (int64_t c = 0; c < 64; ++c) {
        ASSERT_EQ(split.data<double>()[(head * 9 + token) * 64 + c],
                  static_cast<double>(token * 512 + head * 64 + c + 1));
      }
    }
  }
  expect_equal(merge_heads(split), x, "and back");
  EXPECT_EQ(split_heads(Tensor::zeros({3, 6, 8}), 4).shape().to_string(), "(3, 4, 6, 2)");
  expect_error(ErrorKind::kShape, "D divisible by the 7 heads, not (1, 9, 512)", [&] { split_heads(x, 7); });
  expect_error(ErrorKind::kShape, "must be (B, H, T, d_k), not (1, 9, 512)", [&] { merge_heads(x); });
}

// "Mary gives John a flower" and "John gives Mary a flower": without positions, the output is only reordered.
TEST(SinusoidalPositions, TellOneOrderFromAnother) {
  const MultiHeadAttention attention = layer_of(4, 2, DType::kFloat32);
  const Tensor words = TensorSource(15).normal({1, 2, 4}, DType::kFloat32);
  const Tensor positions = sinusoidal_positions(2, 4);
  EXPECT_EQ(positions.data<float>()[4], std::sin(1.0f));
  EXPECT_EQ(positions.data<float>()[5], std::cos(1.0f));
  const auto swapped = [](const Tensor& x) {
    std::vector<float> rows = x.to_vector<float>();
    std::rotate(rows.begin(), rows.begin() + 4, rows.end());
    return Tensor::from(rows, {1, 2, 4});
  };
  const auto placed = [&](const Tensor& x) {
    Tensor sum = x.clone();
    for (int64_t i = 0; i < 8; ++i) sum.data<float>()[i] += positions.data<float>()[i];
    return sum;
  };
  const auto attend = [&](const Tensor& x) { return attention.forward(x, x, x).output; };
  expect_close(attend(swapped(words)), swapped(attend(words)), 16 * 0x1p-23, "without positions");
  const Tensor one = attend(placed(words)), other = swapped(attend(placed(swapped(words))));
  EXPECT_GT(std::abs(one.data<float>()[0] - other.data<float>()[0]), 1e-3f);
}

TEST(SinusoidalPositions, AreNoMoreThanFitIntoMemory) {
  // length * width is 0 in 64 bits.
  expect_error(ErrorKind::kShape, "(8589934592, 2147483648) is larger than any memory",
               [] { sinusoidal_positions(int64_t{1} << 33, int64_t{1} << 31); });
}

TEST(SinusoidalPositions, AreNoIntegers) {
  expect_error(ErrorKind::kUsage, "sines cannot be int32",
               [] { sinusoidal_positions(3, 4, SinusoidLayout::kInterleaved, DType::kInt32); });
}

TEST(MultiHeadAttention, HasTheShapesOfTheTutorials) {
  TensorSource source(1);
  const MultiHeadAttention attention = layer_of(512, 8, DType::kFloat32);
  const Tensor nine = source.normal({1, 9, 512}, DType::kFloat32),
               twelve = source.normal({1, 12, 512}, DType::kFloat32);
  const AttentionResult self = attention.forward(nine, nine, nine, {.weights = true});
  EXPECT_EQ(self.output.shape().to_string(), "(1, 9, 512)");
  EXPECT_EQ(self.weights.shape().to_string(), "(1, 8, 9, 9)");
  expect_rows_sum_to_one(self.weights);
  const AttentionResult cross = attention.forward(twelve, nine, nine, {.weights = true});
  EXPECT_EQ(cross.output.shape().to_string(), "(1, 12, 512)");
  EXPECT_EQ(cross.weights.shape().to_string(), "(1, 8, 12, 9)");
  expect_rows_sum_to_one(cross.weights);
  const Tensor three = source.normal({3, 6, 8});
  EXPECT_EQ(layer_of(8, 4).forward(three, three, three, {.weights = true}).weights.shape().to_string(),
            "(3, 4, 6, 6)");
}

TEST(MultiHeadAttention, MakesNoWeightsUnlessAsked) {
  TensorSource source(2);
  const MultiHeadAttention attention = layer_of(16, 2, DType::kFloat32);
  const Tensor x = source.normal({1, 1500, 16}, DType::kFloat32);
  const uint64_t before = pool_statistics().bytes_from_system;
  const AttentionResult quiet = attention.forward(x, x, x, {.look_ahead = true});
  const uint64_t without = pool_statistics().bytes_from_system - before;
  EXPECT_FALSE(quiet.weights.defined());
  const AttentionResult loud = attention.forward(x, x, x, {.look_ahead = true, .weights = true});
  EXPECT_EQ(loud.weights.shape().to_string(), "(1, 2, 1500, 1500)");
  EXPECT_LT(without, uint64_t{1500} * 1500 * sizeof(float));
  // Sums of 1500 weights and of 16 products, in another order.
  expect_close(quiet.output, loud.output, 1500 * 4 * 0x1p-23, "output");
}

// One head, identity for all four matrices: the layer is the function.
TEST(MultiHeadAttention, WithIdentitiesIsScaledDotProductAttention) {
  TensorSource source(3);
  MultiHeadAttention attention = layer_of(4, 1);
  const Tensor identity = Tensor::from<double>({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, {4, 4});
  for (const char* name : {"q_proj.weight", "k_proj.weight", "v_proj.weight", "out_proj.weight"}) {
    attention.set_parameter(name, identity);
  }
  const Tensor query = source.normal({2, 3, 4}), key = source.normal({2, 5, 4}),
               value = source.normal({2, 5, 4});
  AttentionOptions options{.weights = true};
  options.padding = padding_mask({5, 2}, 5);
  options.bias = source.normal({3, 5});
  const AttentionResult layer = attention.forward(query, key, value, options);
  const AttentionResult function = scaled_dot_product_attention(query, key, value, options);
  expect_close(layer.output, function.output, 1e-14, "output");
  expect_close(layer.weights.reshape({2, 3, 5}), function.weights, 1e-14, "weights");
  options.bias = {};
  EXPECT_GT(std::abs(attention.forward(query, key, value, options).output.data<double>()[0] -
                     function.output.data<double>()[0]),
            1e-3)
      << "the control: the bias matters";
}

// Each combination of masks against the same mask written out in full.
TEST(MultiHeadAttention, MasksGoTogether) {
  TensorSource source(4);
  const MultiHeadAttention attention = layer_of(6, 3);
  constexpr int64_t kBatch = 2, kLength = 4;
  const Tensor x = source.normal({kBatch, kLength, 6});
  const std::vector<int64_t> lengths{4, 2};
  const Tensor any = source.mask({3, kLength, kLength}, 0.8);
  for (const bool padded : {false, true}) {
    for (const bool look_ahead : {false, true}) {
      for (const bool masked : {false, true}) {
        Tensor full = Tensor::empty({kBatch, 3, kLength, kLength}, DType::kUInt8);
        for (int64_t i = 0; i < full.size(); ++i) {
          const int64_t k = i % kLength, q = i / kLength % kLength, b = i / (3 * kLength * kLength);
          bool seen = !padded || k < lengths[b];
          seen = seen && (!look_ahead || k <= q);
          seen = seen && (!masked || any.data<uint8_t>()[i % any.size()] != 0);
          full.data<uint8_t>()[i] = seen ? 1 : 0;
        }
        AttentionOptions options{.look_ahead = look_ahead, .weights = true};
        if (padded) options.padding = padding_mask(lengths, kLength);
        if (masked) options.mask = any;
        AttentionOptions in_full{.mask = full, .weights = true};
        const AttentionResult actual = attention.forward(x, x, x, options),
                              expected = attention.forward(x, x, x, in_full);
        expect_equal(actual.weights, expected.weights, "weights");
        expect_equal(actual.output, expected.output, "output");
        for (int64_t i = 0; i < full.size(); ++i) {
          if (full.data<uint8_t>()[i] == 0) {
            ASSERT_EQ(actual.weights.data<double>()[i], 0);
          }
        }
      }
    }
  }
}

TEST(MultiHeadAttention, AQueryThatSeesNothingGivesTheBiasOfTheOutput) {
  TensorSource source(5);
  MultiHeadAttention attention = layer_of(6, 2);
  attention.set_parameter("out_proj.bias", source.normal({6}));
  const Tensor x = source.normal({1, 3, 6});
  AttentionOptions options{.padding = padding_mask({0}, 3), .weights = true};
  const AttentionResult result = attention.forward(x, x, x, options);
  expect_equal(result.weights, Tensor::zeros({1, 2, 3, 3}, DType::kFloat64), "weights");
  for (int64_t t = 0; t < 3; ++t) {
    expect_equal(result.output.narrow(1, t, 1).clone().reshape({6}), attention.parameter("out_proj.bias"),
                 "output");
  }
  attention.forward_training(x, x, x, options);
  const AttentionGradients gradients = attention.backward(source.normal({1, 3, 6}));
  expect_equal(gradients.query, Tensor::zeros({1, 3, 6}, DType::kFloat64), "gradient");
}

TEST(MultiHeadAttention, PaddedIsTheSameAsPacked) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    // Two orders of sums of 12 products and 7 weights.
    const double tolerance = 64 * (dtype == DType::kFloat32 ? 0x1p-23 : 0x1p-52);
    TensorSource source(6);
    MultiHeadAttention attention = layer_of(12, 3, dtype);
    const std::vector<int64_t> lengths{7, 1, 0, 4};
    const Tensor padded = source.normal({4, 7, 12}, dtype);
    Tensor packed = Tensor::empty({12, 12}, dtype);
    MultiHeadAttention::PackedOptions packed_options{
        .query_offsets = {0}, .key_offsets = {0}, .weights = true};
    for (size_t b = 0; b < lengths.size(); ++b) {
      const Tensor rows = padded.narrow(0, static_cast<int64_t>(b), 1).narrow(1, 0, lengths[b]).clone();
      std::copy_n(
          static_cast<const char*>(rows.bytes()), static_cast<size_t>(rows.size()) * size_of(dtype),
          static_cast<char*>(packed.narrow(0, packed_options.query_offsets.back(), lengths[b]).bytes()));
      packed_options.query_offsets.push_back(packed_options.query_offsets.back() + lengths[b]);
    }
    packed_options.key_offsets = packed_options.query_offsets;
    const Tensor padding = padding_mask(lengths, 7);
    for (const bool look_ahead : {false, true}) {
      packed_options.look_ahead = look_ahead;
      AttentionOptions options{.padding = padding, .look_ahead = look_ahead, .weights = true};
      const auto expected = attention.forward(padded, padded, padded, options);
      const auto actual = attention.forward_packed(packed, packed, packed, packed_options);
      auto quiet = packed_options;
      quiet.weights = false;
      const auto streamed = attention.forward_packed(packed, packed, packed, quiet);
      EXPECT_TRUE(streamed.weights.empty());
      for (size_t b = 0; b < lengths.size(); ++b) {
        const auto row = static_cast<int64_t>(b);
        const Shape shape{lengths[b], 12};
        const Tensor want = expected.output.narrow(0, row, 1).narrow(1, 0, lengths[b]).clone().reshape(shape);
        expect_close(actual.output.narrow(0, packed_options.query_offsets[b], lengths[b]).clone(), want,
                     tolerance, "packed");
        expect_close(streamed.output.narrow(0, packed_options.query_offsets[b], lengths[b]).clone(), want,
                     tolerance, "streamed");
        const Tensor weights =
            expected.weights.narrow(0, row, 1).narrow(2, 0, lengths[b]).narrow(3, 0, lengths[b]);
        expect_close(actual.weights[b], weights.clone().reshape({3, lengths[b], lengths[b]}), tolerance,
                     "weights");
      }
    }
    // The control: without the mask, padding counts.
    const auto unmasked = attention.forward(padded, padded, padded).output;
    const auto masked = attention.forward(padded, padded, padded, {.padding = padding}).output;
    const auto at = static_cast<size_t>(3 * 7 * 12);
    EXPECT_GT(std::abs(unmasked.to_vector<double>()[at] - masked.to_vector<double>()[at]), 1e-3);
  }
}

// To the last bit, with the weights and without: forward_packed() of a batch gives what forward() gives for
// each sentence alone, which needs no padding.
TEST(MultiHeadAttention, PackedHasTheBitsOfEachSentenceAlone) {
  TensorSource source(16);
  MultiHeadAttention attention = layer_of(64, 4, DType::kFloat32);
  const std::vector<int64_t> offsets{0, 7, 8, 8, 12, 52, 182};
  const Tensor all = source.normal({offsets.back(), 64}, DType::kFloat32);
  for (const bool look_ahead : {false, true}) {
    for (const bool weights : {false, true}) {
      const auto packed = attention.forward_packed(all, all, all, {offsets, offsets, look_ahead, weights});
      for (size_t b = 0; b + 1 < offsets.size(); ++b) {
        const int64_t length = offsets[b + 1] - offsets[b];
        if (length == 0) continue;
        Tensor x = all.narrow(0, offsets[b], length).clone().reshape({1, length, 64});
        const AttentionOptions options{.look_ahead = look_ahead, .weights = weights};
        const AttentionResult alone = attention.forward(x, x, x, options);
        const Tensor part = packed.output.narrow(0, offsets[b], length).clone();
        expect_equal(part, alone.output.reshape({length, 64}), fmt::format("{} tokens", length));
        if (weights) {
          expect_equal(packed.weights[b].clone(), alone.weights.reshape({4, length, length}), "weights");
        }
        // The control: one number of its own is another.
        x.data<float>()[0] += 1;
        EXPECT_NE(attention.forward(x, x, x, options).output.to_vector<float>(), part.to_vector<float>());
      }
    }
  }
}

TEST(MultiHeadAttention, GradientsAreThoseOfTheOutput) {
  TensorSource source(7);
  MultiHeadAttentionOptions wide{
      .d_model = 4, .heads = 2, .key_width = 3, .value_width = 5, .dropout = 0, .dtype = DType::kFloat64};
  MultiHeadAttention attention(wide);
  for (const std::string& name : attention.parameter_names()) {
    attention.set_parameter(name, source.normal(attention.parameter(name).shape()));
  }
  Tensor query = source.normal({2, 3, 4}), key = source.normal({2, 4, 3}), value = source.normal({2, 4, 5});
  AttentionOptions options{.padding = padding_mask({4, 3}, 4)};
  const Tensor upstream = source.normal({2, 3, 4});
  attention.forward_training(query, key, value, options);
  const AttentionGradients gradients = attention.backward(upstream);
  const auto total = [&] {
    const std::vector<double> y = attention.forward(query, key, value, options).output.to_vector<double>();
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) sum += y[i] * upstream.data<double>()[i];
    return sum;
  };
  // Central differences of order two: an error of step^2 and of 1e-15 / step, times derivatives of size 10 or
  // so.
  constexpr double kStep = 1e-5, kTolerance = 1e-7;
  const auto check = [&](Tensor& input, const Tensor& gradient, const std::string& what) {
    ASSERT_TRUE(gradient.shape() == input.shape()) << what;
    for (int64_t i = 0; i < input.size(); ++i) {
      double& x = input.data<double>()[i];
      const double before = x;
      x = before + kStep;
      const double above = total();
      x = before - kStep;
      const double below = total();
      x = before;
      ASSERT_NEAR(gradient.data<double>()[i], (above - below) / (2 * kStep), kTolerance)
          << what << " at " << i;
    }
  };
  check(query, gradients.query, "query");
  check(key, gradients.key, "key");
  check(value, gradients.value, "value");
  EXPECT_EQ(gradients.parameters.size(), attention.parameter_names().size());
  for (const auto& [name, gradient] : gradients.parameters) {
    Tensor parameter = attention.parameter(name);
    for (const int64_t i : {int64_t{0}, parameter.size() - 1}) {
      const double before = parameter.data<double>()[i];
      parameter.data<double>()[i] = before + kStep;
      attention.set_parameter(name, parameter);
      const double above = total();
      parameter.data<double>()[i] = before - kStep;
      attention.set_parameter(name, parameter);
      const double below = total();
      parameter.data<double>()[i] = before;
      attention.set_parameter(name, parameter);
      EXPECT_NEAR(gradient.data<double>()[i], (above - below) / (2 * kStep), kTolerance)
          << name << " at " << i;
    }
  }
}

TEST(MultiHeadAttention, TheSameTensorThriceHasOneGradient) {
  TensorSource source(8);
  MultiHeadAttention attention = layer_of(6, 2);
  const Tensor x = source.normal({2, 4, 6}), upstream = source.normal({2, 4, 6});
  attention.forward_training(x, x.clone(), x.clone());
  const AttentionGradients apart = attention.backward(upstream);
  attention.forward_training(x, x, x);
  const AttentionGradients together = attention.backward(upstream);
  EXPECT_FALSE(together.key.defined());
  EXPECT_FALSE(together.value.defined());
  Tensor sum = apart.query.clone();
  for (int64_t i = 0; i < sum.size(); ++i)
    sum.data<double>()[i] += apart.key.data<double>()[i] + apart.value.data<double>()[i];
  expect_close(together.query, sum, 1e-14, "the sum");
  for (const auto& [name, gradient] : apart.parameters)
    expect_close(together.parameters.at(name), gradient, 1e-13, name);
  attention.forward_training(x, upstream, upstream);
  EXPECT_TRUE(attention.backward(upstream).key.defined());
}

/// The gradients of a pass whose weights were changed by whoever got them are those of the pass.
TEST(MultiHeadAttention, WeightsOfATrainingPassMayBeChanged) {
  TensorSource source(14);
  MultiHeadAttention attention = layer_of(6, 2);
  const Tensor x = source.normal({2, 4, 6}), upstream = source.normal({2, 4, 6});
  const Tensor rows = x.reshape({8, 6}), upstream_rows = upstream.reshape({8, 6});
  const auto gradients = [&](const auto& pass, const Tensor& of) {
    pass();
    return attention.backward(of);
  };
  const auto erase = [](Tensor weights) { std::fill_n(weights.data<double>(), weights.size(), 0.0); };
  const AttentionGradients expected = gradients([&] { attention.forward_training(x, x, x); }, upstream);
  const auto expect_same = [&](const AttentionGradients& found) {
    expect_close(found.query.reshape(x.shape()), expected.query, 1e-13, "the gradient of the input");
    for (const auto& [name, gradient] : expected.parameters)
      expect_close(found.parameters.at(name), gradient, 1e-13, name);
  };
  expect_same(
      gradients([&] { erase(attention.forward_training(x, x, x, {.weights = true}).weights); }, upstream));
  const std::vector<int64_t> offsets{0, 4, 8};
  expect_same(gradients(
      [&] {
        const auto result = attention.forward_packed_training(
            rows, rows, rows, {.query_offsets = offsets, .key_offsets = offsets, .weights = true});
        for (const Tensor& weights : result.weights) erase(weights);
      },
      upstream_rows));
}

TEST(MultiHeadAttention, DropoutIsForTrainingOnly) {
  TensorSource source(9);
  MultiHeadAttention attention = layer_of(6, 2, DType::kFloat64, 0.5),
                     same = layer_of(6, 2, DType::kFloat64, 0.5);
  const Tensor x = source.normal({2, 8, 6});
  const Tensor plain = attention.forward(x, x, x).output;
  expect_equal(attention.forward(x, x, x).output, plain, "no dropout in inference");
  const Tensor first = attention.forward_training(x, x, x).output,
               second = attention.forward_training(x, x, x).output;
  const auto differ = [](const Tensor& a, const Tensor& b) {
    return a.to_vector<double>() != b.to_vector<double>();
  };
  EXPECT_TRUE(differ(first, plain));
  EXPECT_TRUE(differ(first, second));
  expect_equal(same.forward_training(x, x, x).output, first, "the same seed");
  // Whether somebody looks on changes nothing, the masks included.
  expect_close(same.forward_training(x, x, x, {.weights = true}).output, second, 1e-13, "looked at");
}

TEST(MultiHeadAttention, ParametersAreCopied) {
  MultiHeadAttention attention = layer_of(4, 2);
  EXPECT_EQ(attention.parameter_names().size(), 8u);
  const Tensor x = TensorSource(1).normal({1, 2, 4});
  const Tensor before = attention.forward(x, x, x).output;
  Tensor weight = attention.parameter("v_proj.weight");
  weight.data<double>()[0] += 1;
  expect_equal(attention.forward(x, x, x).output, before, "a copy was changed");
  attention.set_parameter("v_proj.weight", weight.to(DType::kFloat32));
  EXPECT_NE(attention.forward(x, x, x).output.data<double>()[0], before.data<double>()[0]);
  MultiHeadAttentionOptions bare{.d_model = 4, .heads = 2, .bias = false};
  EXPECT_EQ(MultiHeadAttention(bare).parameter_names(),
            (std::vector<std::string>{"q_proj.weight", "k_proj.weight", "v_proj.weight", "out_proj.weight"}));
}

TEST(MultiHeadAttention, NewParametersAreUsedInFloat32Too) {
  MultiHeadAttention attention = layer_of(4, 2, DType::kFloat32);
  const Tensor x = TensorSource(1).normal({1, 2, 4}, DType::kFloat32);
  attention.forward(x, x, x);
  attention.set_parameter("out_proj.weight", Tensor::zeros({4, 4}));
  expect_equal(attention.forward(x, x, x).output, Tensor::zeros({1, 2, 4}), "output");
}

TEST(MultiHeadAttention, ViewsWithGapsAreCopied) {
  TensorSource source(10);
  MultiHeadAttention attention = layer_of(4, 2);
  const Tensor wide = source.normal({2, 3, 9});
  const Tensor view = wide.narrow(2, 3, 4), copy = view.clone();
  expect_equal(attention.forward(view, view, view).output, attention.forward(copy, copy, copy).output,
               "output");
  // One view given thrice is one tensor, but two views are not because they begin at the same element.
  const Tensor upstream = source.normal({2, 3, 4});
  attention.forward_training(copy, copy, copy);
  const AttentionGradients expected = attention.backward(upstream);
  attention.forward_training(view, view, view);
  const AttentionGradients actual = attention.backward(upstream);
  expect_equal(actual.query, expected.query, "gradient");
  EXPECT_FALSE(actual.key.defined() || actual.value.defined());
  const Tensor rows = source.normal({1, 4, 8}), left = rows.narrow(2, 0, 4),
               first = rows.reshape({1, 8, 4}).narrow(1, 0, 4);
  expect_equal(attention.forward(left, first, first).output,
               attention.forward(left.clone(), first.clone(), first.clone()).output, "two views");
}

TEST(MultiHeadAttention, ServesManyThreads) {
  const MultiHeadAttention attention = layer_of(16, 4, DType::kFloat32);
  const Tensor x = TensorSource(11).normal({2, 9, 16}, DType::kFloat32);
  std::vector<Tensor> results(4);
  std::vector<std::thread> threads;
  for (Tensor& result : results) {
    threads.emplace_back([&] { result = attention.forward(x, x, x, {.weights = true}).output; });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Tensor& result : results) expect_equal(result, results[0], "every thread");
}

TEST(MultiHeadAttention, ErrorsSayWhatIsNeeded) {
  expect_error(ErrorKind::kShape, "d_model 512 cannot be divided among 7 heads", [] { layer_of(512, 7); });
  expect_error(ErrorKind::kUsage, "dropout must be at least 0 and below 1, not 1",
               [] { layer_of(4, 2, DType::kFloat32, 1); });
  expect_error(ErrorKind::kUsage, "float32 or float64, not int32", [] { layer_of(4, 2, DType::kInt32); });
  MultiHeadAttention attention = layer_of(4, 2);
  const Tensor x = Tensor::zeros({2, 3, 4}, DType::kFloat64);
  expect_error(ErrorKind::kShape,
               "query (B, Tq, 4), key (B, Tk, 4) and value (B, Tk, 4) are needed, not (2, 3, 4), (2, 3, 4) "
               "and (2, 12)",
               [&] {
                 attention.forward(x, x, x.reshape({2, 12}));
               });
  expect_error(ErrorKind::kShape, "a layer of float64 cannot take float32", [&] {
    const Tensor single = x.to(DType::kFloat32);
    attention.forward(single, single, single);
  });
  expect_error(ErrorKind::kShape, "the padding mask must be (B, Tk) = (2, 3), not (2, 4)", [&] {
    attention.forward(x, x, x, {.padding = padding_mask({3, 3}, 4)});
  });
  expect_error(ErrorKind::kShape, "a mask of (4, 4) does not fit",
               [&] { attention.forward(x, x, x, {.mask = look_ahead_mask(4)}); });
  const Tensor rows = x.reshape({6, 4});
  expect_error(ErrorKind::kShape, "the offsets of query must begin with 0 and end with its 6 rows", [&] {
    attention.forward_packed(rows, rows, rows, {.query_offsets = {0, 3}, .key_offsets = {0, 3, 6}});
  });
  expect_error(ErrorKind::kUsage, "no parameter 'q.weight'", [&] { attention.parameter("q.weight"); });
  expect_error(ErrorKind::kShape, "q_proj.bias is (4), not (5)",
               [&] { attention.set_parameter("q_proj.bias", Tensor::zeros({5})); });
  expect_error(ErrorKind::kUsage, "must follow a forward_training()", [&] { attention.backward(x); });
  attention.forward_training(x, x, x);
  expect_error(ErrorKind::kShape, "the upstream gradient (3, 4)", [&] {
    attention.backward(Tensor::zeros({3, 4}, DType::kFloat64));
  });
  for (const Shape& shape : {Shape{6, 4}, Shape{3, 2, 4}, Shape{24}}) {  // as many elements
    expect_error(ErrorKind::kShape,
                 "the upstream gradient " + shape.to_string() +
                     " of float64 must be as the output: (2, 3, 4) of float64",
                 [&] { attention.backward(Tensor::zeros(shape, DType::kFloat64)); });
  }
  EXPECT_EQ(attention.backward(x).query.shape(), x.shape()) << "a refusal forgets the pass";
  attention.forward_packed_training(rows, rows, rows, {{0, 3, 6}, {0, 3, 6}});
  expect_error(ErrorKind::kShape, "must be as the output: (6, 4) of float64", [&] { attention.backward(x); });
  EXPECT_EQ(attention.backward(rows).query.shape(), rows.shape());
}

TEST(MultiHeadAttention, MasksOfOtherTypesAreNamed) {
  MultiHeadAttention attention = layer_of(4, 2);
  const Tensor x = Tensor::zeros({2, 3, 4}, DType::kFloat64);
  const Tensor mask = look_ahead_mask(3).to(DType::kInt64),
               padding = padding_mask({3, 2}, 3).to(DType::kFloat32);
  expect_error(ErrorKind::kShape, "the mask is of int64; give one of uint8",
               [&] { attention.forward(x, x, x, {.mask = mask}); });
  expect_error(ErrorKind::kShape, "the padding mask is of float32; give one of uint8",
               [&] { attention.forward(x, x, x, {.padding = padding}); });
  expect_error(ErrorKind::kShape, "the mask is of int64; give one of uint8",
               [&] { scaled_dot_product_attention(x, x, x, {.mask = mask}); });
}

TEST(ScaledDotProductAttention, TakesAxesInFront) {
  TensorSource source(12);
  const Tensor query = source.normal({2, 3, 4, 5}), key = source.normal({2, 3, 6, 5}),
               value = source.normal({2, 3, 6, 2});
  AttentionOptions options{.mask = source.mask({2, 1, 4, 6}, 0.7), .weights = true};
  options.padding = padding_mask({6, 4}, 6);
  options.bias = source.normal({3, 4, 6});
  const AttentionResult all = scaled_dot_product_attention(query, key, value, options);
  EXPECT_EQ(all.output.shape().to_string(), "(2, 3, 4, 2)");
  EXPECT_EQ(all.weights.shape().to_string(), "(2, 3, 4, 6)");
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t h = 0; h < 3; ++h) {
      const auto part = [&](const Tensor& x) {
        return x.narrow(0, b, 1).narrow(1, h, 1).clone().reshape({x.dim(2), x.dim(3)});
      };
      AttentionOptions one{.mask = options.mask.narrow(0, b, 1).clone().reshape({4, 6}), .weights = true};
      one.padding = options.padding.narrow(0, b, 1);
      one.bias = options.bias.narrow(0, h, 1).clone().reshape({4, 6});
      const AttentionResult alone = scaled_dot_product_attention(part(query), part(key), part(value), one);
      expect_close(part(all.output), alone.output, 1e-15, "output");
      expect_close(part(all.weights), alone.weights, 1e-15, "weights");
    }
  }
  expect_error(ErrorKind::kShape, "not (2, 3, 4, 5), (2, 3, 6, 5) and (2, 3, 5, 2)", [&] {
    scaled_dot_product_attention(query, key, source.normal({2, 3, 5, 2}));
  });
}

TEST(ScaledDotProductAttention, TakesNoKeysAndNoQueries) {
  TensorSource source(13);
  for (const auto& [queries, keys] : {std::pair(4, 0), std::pair(0, 6), std::pair(0, 0)}) {
    AttentionOptions options{.mask = source.mask({2, 3, queries, keys}, 0.7), .weights = true};
    options.bias = source.normal({2, 3, queries, keys});
    options.padding = source.mask({2, keys}, 0.7);
    const AttentionResult result =
        scaled_dot_product_attention(source.normal({2, 3, queries, 5}), source.normal({2, 3, keys, 5}),
                                     source.normal({2, 3, keys, 2}), options);
    EXPECT_EQ(result.output.shape(), (Shape{2, 3, queries, 2}));
    EXPECT_EQ(result.weights.shape(), (Shape{2, 3, queries, keys}));
    for (const double value : result.output.to_vector<double>()) EXPECT_EQ(value, 0);
  }
}

// Dot products of long vectors are large, and their softmax is nearly all 0 and 1; divided by sqrt(d_k) it is
// softer.
TEST(ScaledDotProductAttention, ScalingMakesTheWeightsSofter) {
  TensorSource source(13);
  const Tensor query = source.normal({10, 64}), key = source.normal({10, 64});
  const auto range = [](const Tensor& scores) {
    const auto values = scores.to_vector<double>();
    return *std::max_element(values.begin(), values.end()) - *std::min_element(values.begin(), values.end());
  };
  EXPECT_NEAR(range(attention_scores(query, key, 1)), 8 * range(attention_scores(query, key, 1.0 / 8)),
              1e-12);
  const auto largest = [](const AttentionResult& result) {
    double sum = 0;
    for (int64_t q = 0; q < 10; ++q) {
      const auto row = result.weights.narrow(0, q, 1).to_vector<double>();
      sum += *std::max_element(row.begin(), row.end());
    }
    return sum / 10;
  };
  AttentionOptions options{.weights = true};
  EXPECT_GT(largest(scaled_dot_product_attention(query, key, key, options, 1)),
            largest(scaled_dot_product_attention(query, key, key, options)) + 0.2);
}

TEST(PlainSelfAttention, AgreesWithTheLoop) {
  const Tensor x = TensorSource(14).normal({6, 5});
  const AttentionResult result = plain_self_attention(x), loops = plain_self_attention_in_loops(x);
  expect_close(result.weights, loops.weights, 1e-14, "weights");
  expect_close(result.output, loops.output, 1e-13, "output");
  expect_rows_sum_to_one(loops.weights);
  expect_error(ErrorKind::kShape, "must be (T, D), not (5)",
               [&] { plain_self_attention_in_loops(x.narrow(0, 0, 1).reshape({5})); });
}

// One word by hand: the formula with matrices, in numbers.
TEST(SelfAttention, ProjectsAsAMatrixTimesAColumn) {
  const Tensor x = Tensor::from<double>({1, 0, 0, 2}, {2, 2});
  const SelfAttentionMatrices u{
      Tensor::from<double>({3, 1}, {1, 2}),               // q = 3 x_1 + x_2
      Tensor::from<double>({1, 1}, {1, 2}),               // k = x_1 + x_2
      Tensor::from<double>({1, 0, 0, 1, 1, 1}, {3, 2})};  // v = (x_1, x_2, x_1 + x_2)
  const AttentionResult result = self_attention(x, u, {.weights = true}, 1);
  // Queries 3 and 2, keys 1 and 2: scores (3, 6) and (2, 4).
  const double a = 1 / (1 + std::exp(3)), b = 1 / (1 + std::exp(2));
  expect_close(result.weights, Tensor::from<double>({a, 1 - a, b, 1 - b}, {2, 2}), 1e-15, "weights");
  expect_close(result.output, Tensor::from<double>({a, 2 * (1 - a), 2 - a, b, 2 * (1 - b), 2 - b}, {2, 3}),
               1e-14, "output");
}

TEST(SelfAttention, HeadsWithMatricesOfTheirOwnAreTheLayer) {
  constexpr int64_t kWidth = 6, kHeads = 3, kHeadWidth = 2;
  MultiHeadAttentionOptions layer_options;
  layer_options.d_model = kWidth;
  layer_options.heads = kHeads;
  layer_options.bias = false;
  layer_options.dtype = DType::kFloat64;
  const MultiHeadAttention layer(layer_options);
  std::vector<SelfAttentionMatrices> heads;
  for (int64_t h = 0; h < kHeads; ++h) {
    const auto part = [&](const char* name) {
      return layer.parameter(name).narrow(0, h * kHeadWidth, kHeadWidth).clone();
    };
    heads.push_back({part("q_proj.weight"), part("k_proj.weight"), part("v_proj.weight")});
  }
  const Tensor x = TensorSource(16).normal({2, 5, kWidth});
  const AttentionOptions options{.padding = padding_mask({5, 3}, 5), .look_ahead = true, .weights = true};
  const AttentionResult expected = layer.forward(x, x, x, options);
  const AttentionResult actual =
      multi_head_self_attention(x, heads, layer.parameter("out_proj.weight"), options);
  expect_close(actual.output, expected.output, 1e-14, "output");
  expect_close(actual.weights, expected.weights, 1e-15, "weights");
  const Tensor one = x.narrow(0, 0, 1).clone().reshape({5, kWidth});
  const AttentionResult alone = multi_head_self_attention(one, heads, layer.parameter("out_proj.weight"),
                                                          {.look_ahead = true, .weights = true});
  EXPECT_EQ(alone.weights.shape().to_string(), "(3, 5, 5)");
  // Masks and biases of each head, in a batch of as many texts as heads, too.
  const Tensor three = TensorSource(17).normal({kHeads, 5, kWidth});
  for (const Shape& shape : {Shape{5, 5}, Shape{kHeads, 5, 5}, Shape{1, kHeads, 5, 5}, Shape{kHeads, 1, 5, 5},
                             Shape{kHeads, kHeads, 5, 5}}) {
    TensorSource numbers(18);
    AttentionOptions own{.mask = numbers.mask(shape, 0.7), .weights = true};
    own.bias = numbers.normal(shape);
    const AttentionResult layered = layer.forward(three, three, three, own);
    const AttentionResult apart =
        multi_head_self_attention(three, heads, layer.parameter("out_proj.weight"), own);
    expect_close(apart.output, layered.output, 1e-14, shape.to_string());
    expect_close(apart.weights, layered.weights, 1e-15, shape.to_string());
  }
  expect_error(ErrorKind::kShape, "must be (T, T), (3, T, T), not (2, 5, 5)", [&] {
    multi_head_self_attention(one, heads, layer.parameter("out_proj.weight"),
                              {.mask = TensorSource(19).mask({2, 5, 5}, 0.7)});
  });
  expect_close(alone.output, expected.output.narrow(0, 0, 1).clone().reshape({5, kWidth}), 1e-14, "one text");
  EXPECT_FALSE(multi_head_self_attention(one, heads, layer.parameter("out_proj.weight")).weights.defined());
  expect_error(ErrorKind::kShape, "the output projection must be (any width, 6)", [&] {
    multi_head_self_attention(one, heads, Tensor::zeros({4, 5}, DType::kFloat64));
  });
  expect_error(ErrorKind::kShape, "U_q must be (any width, 6)", [&] {
    self_attention(one, {Tensor::zeros({2, 5}, DType::kFloat64), heads[0].key, heads[0].value});
  });
}

// ---- Positions --------------------------------------------------------------------------------------------

/// Rows of (1, T, D) in an order that does not depend on theirs: a set.
std::vector<std::vector<double>> as_set(const Tensor& x) {
  std::vector<std::vector<double>> rows;
  for (int64_t t = 0; t < x.dim(1); ++t) {
    rows.push_back(x.narrow(1, t, 1).to_vector<double>());
    for (double& value : rows.back()) value = std::round(value * 1e9) / 1e9;  // sums in another order
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// Words, one vector each, as a sentence (1, T, D).
Tensor sentence(const std::vector<int64_t>& words, const Tensor& vectors) {
  const int64_t width = vectors.dim(1);
  Tensor x = Tensor::empty({1, static_cast<int64_t>(words.size()), width}, DType::kFloat64);
  double* to = x.data<double>();
  for (const int64_t word : words) to = std::copy_n(vectors.data<double>() + word * width, width, to);
  return x;
}

constexpr PositionKind kRelativeKinds[] = {PositionKind::kRelative, PositionKind::kBuckets,
                                           PositionKind::kRotary, PositionKind::kRotaryInterleaved};

MultiHeadAttention layer_with(PositionKind kind) {
  MultiHeadAttentionOptions options;
  options.d_model = 8;
  options.heads = 2;
  options.dtype = DType::kFloat64;
  options.positions = {.kind = kind, .max_relative_distance = 2, .buckets = 8, .bucket_max_distance = 6};
  MultiHeadAttention layer(options);
  if (kind == PositionKind::kBuckets) {  // begins at 0, where it tells nothing yet
    layer.set_parameter("relative_attention_bias.weight", TensorSource(17).normal({8, 2}));
  }
  return layer;
}

Tensor plus_sinusoids(const Tensor& x) {
  Tensor sum = x.clone();
  const std::vector<double> positions = sinusoidal_positions(x.dim(1), x.dim(2)).to_vector<double>();
  for (int64_t i = 0; i < sum.size(); ++i) sum.data<double>()[i] += positions[static_cast<size_t>(i)];
  return sum;
}

// Mary, gives, John, a, flower.
TEST(Positions, TellWhoGivesTheFlower) {
  const Tensor vectors = TensorSource(18).normal({5, 8});
  const Tensor mary = sentence({0, 1, 2, 3, 4}, vectors), john = sentence({2, 1, 0, 3, 4}, vectors);
  const auto attended = [](const MultiHeadAttention& layer, const Tensor& x) {
    return as_set(layer.forward(x, x, x).output);
  };
  const MultiHeadAttention none = layer_with(PositionKind::kNone);
  EXPECT_EQ(attended(none, mary), attended(none, john)) << "without positions, the same words are the same";
  EXPECT_NE(attended(none, plus_sinusoids(mary)), attended(none, plus_sinusoids(john)));
  for (const PositionKind kind : kRelativeKinds) {
    const MultiHeadAttention layer = layer_with(kind);
    EXPECT_NE(attended(layer, mary), attended(layer, john));
  }
}

// The sentence three positions later, behind padding that is hidden.
TEST(Positions, RelativeOnesStayWhenTheSentenceMoves) {
  const Tensor vectors = TensorSource(19).normal({6, 8});
  const Tensor here = sentence({0, 1, 2, 3, 4}, vectors), later = sentence({5, 5, 5, 0, 1, 2, 3, 4}, vectors);
  const Tensor behind = Tensor::from<uint8_t>({0, 0, 0, 1, 1, 1, 1, 1}, {1, 8});
  const auto moved_by = [&](const MultiHeadAttention& layer, const Tensor& x, const Tensor& y) {
    const Tensor before = layer.forward(x, x, x).output;
    return largest_difference(layer.forward(y, y, y, {.padding = behind}).output.narrow(1, 3, 5).clone(),
                              before);
  };
  for (const PositionKind kind : kRelativeKinds) EXPECT_LT(moved_by(layer_with(kind), here, later), 1e-13);
  const MultiHeadAttention none = layer_with(PositionKind::kNone);
  EXPECT_GT(moved_by(none, plus_sinusoids(here), plus_sinusoids(later)), 1e-2)
      << "the control: absolute ones";
}

TEST(Positions, BeyondThirtyTwoBitsAreRefused) {
  const Tensor x = TensorSource(20).normal({3, 4});
  for (const int64_t first : {int64_t{1} << 31, std::numeric_limits<int64_t>::max()}) {
    expect_error(ErrorKind::kUsage, fmt::format("positions from {} on are beyond 32 bits", first),
                 [&] { rotate_positions(x, {.kind = PositionKind::kRotary}, first); });
  }
}

TEST(Positions, AsFunctions) {
  const PositionOptions rotary{.kind = PositionKind::kRotary};
  const Tensor x = TensorSource(20).normal({2, 3, 4});
  const Tensor turned = rotate_positions(x, rotary);
  expect_close(turned.narrow(1, 0, 1).clone(), x.narrow(1, 0, 1).clone(), 0, "position 0 is not turned");
  const Tensor later = rotate_positions(x.narrow(1, 1, 2), rotary, 1);
  expect_close(turned.narrow(1, 1, 2).clone(), later, 0, "a part that begins at index 1");
  EXPECT_GT(largest_difference(rotate_positions(x, {.kind = PositionKind::kRotaryInterleaved}), turned),
            1e-2);
  expect_equal(distance_rows({.kind = PositionKind::kRelative, .max_relative_distance = 1}, 2, 3),
               Tensor::from<int32_t>({0, 1, 2, 0, 0, 1}, {2, 3}), "rows of distances");
  EXPECT_EQ(distance_rows({.kind = PositionKind::kBuckets}, 1, 2).to_vector<int32_t>(),
            (std::vector<int32_t>{1, 0}));
  const Tensor halves = sinusoidal_positions(3, 4, SinusoidLayout::kHalves),
               paper = sinusoidal_positions(3, 4);
  EXPECT_EQ(halves.data<float>()[5], paper.data<float>()[6]) << "the second sine";
  expect_error(ErrorKind::kUsage, "must be kRotary", [&] { rotate_positions(x, {}); });
  expect_error(ErrorKind::kUsage, "must be kRelative or kBuckets", [&] { distance_rows(rotary, 1, 1); });
}

TEST(Positions, AreForSelfAttention) {
  const MultiHeadAttention layer = layer_with(PositionKind::kRotary);
  const Tensor x = TensorSource(21).normal({1, 3, 8});
  expect_error(ErrorKind::kUsage, "give the same tensor", [&] { layer.forward(x, x.clone(), x); });
  MultiHeadAttentionOptions odd;
  odd.d_model = 6;
  odd.heads = 2;
  odd.positions.kind = PositionKind::kRotary;
  expect_error(ErrorKind::kShape, "even width, not 3",
               [&] { MultiHeadAttention(MultiHeadAttentionOptions(odd)); });
  odd.key_width = 4;
  expect_error(ErrorKind::kShape, "as wide as its queries",
               [&] { MultiHeadAttention(MultiHeadAttentionOptions(odd)); });
}

}  // namespace
}  // namespace heed
