// Multi-head attention against torch.nn.MultiheadAttention, and the worked example of a lecture against its
// numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "compare.h"
#include "heed/attention.h"
#include "nn/self_attention.h"
#include "ops/elementwise.h"
#include "ops/linear.h"
#include "reference.h"

namespace heed {
namespace {

constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64};

/// Parameter names of Heed and of the cases.
const std::map<std::string, std::string> kNames{
    {"q_proj.weight", "W_q"}, {"k_proj.weight", "W_k"}, {"v_proj.weight", "W_v"}, {"out_proj.weight", "W_o"},
    {"q_proj.bias", "b_q"},   {"k_proj.bias", "b_k"},   {"v_proj.bias", "b_v"},   {"out_proj.bias", "b_o"}};

struct Inputs {
  Tensor query, key, value, upstream;
};

Inputs inputs_of(const ReferenceCase& reference, DType dtype) {
  return {reference.tensor("input.query", dtype), reference.tensor("input.key", dtype),
          reference.tensor("input.value", dtype), reference.tensor("upstream.output", dtype)};
}

MultiHeadAttention layer_of(const ReferenceCase& reference, DType dtype) {
  MultiHeadAttentionOptions options;
  options.d_model = reference.hyperparameters().at("D").get<int64_t>();
  options.heads = reference.hyperparameters().at("H").get<int>();
  options.key_width = reference.tensor("input.key").dim(2);
  options.value_width = reference.tensor("input.value").dim(2);
  options.bias = reference.has("parameter.b_q");
  options.dropout = 0;
  options.dtype = dtype;
  MultiHeadAttention layer(options);
  for (const std::string& name : layer.parameter_names()) {
    layer.set_parameter(name, reference.tensor("parameter." + kNames.at(name)));
  }
  return layer;
}

AttentionOptions options_of(const ReferenceCase& reference, DType dtype) {
  AttentionOptions options{.weights = true};
  if (reference.has("input.key_visible")) options.padding = reference.tensor("input.key_visible");
  if (reference.has("input.attention_visible")) options.mask = reference.tensor("input.attention_visible");
  if (reference.has("input.attention_bias")) options.bias = reference.tensor("input.attention_bias", dtype);
  return options;
}

void expect_reference(const ReferenceCase& reference, const std::string& tensor, const Tensor& actual) {
  expect_close(actual, reference.tensor(tensor), reference.tolerance(tensor, actual.dtype()),
               reference.name() + " " + tensor + " in " + name_of(actual.dtype()));
}

void expect_gradients(const ReferenceCase& reference, const AttentionGradients& gradients) {
  for (const auto& [name, gradient] : gradients.parameters) {
    expect_reference(reference, "gradient." + kNames.at(name), gradient);
  }
}

TEST(AttentionReference, OutputWeightsAndGradients) {
  const auto cases = fixture_cases("mha");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  for (const std::string& name : cases) {
    const ReferenceCase reference(name);
    for (const DType dtype : kTypes) {
      MultiHeadAttention layer = layer_of(reference, dtype);
      const Inputs x = inputs_of(reference, dtype);
      const AttentionOptions options = options_of(reference, dtype);
      for (const AttentionResult& result : {layer.forward(x.query, x.key, x.value, options),
                                            layer.forward_training(x.query, x.key, x.value, options)}) {
        expect_reference(reference, "expected.output", result.output);
        expect_reference(reference, "expected.weights", result.weights);
      }
      const AttentionGradients gradients = layer.backward(x.upstream);
      expect_reference(reference, "gradient.query", gradients.query);
      expect_reference(reference, "gradient.key", gradients.key);
      expect_reference(reference, "gradient.value", gradients.value);
      expect_gradients(reference, gradients);
    }
  }
}

// Without weights: flash attention, and one product for queries, keys and values.
TEST(AttentionReference, WithoutWeights) {
  const auto cases = fixture_cases("mha");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  int streamed = 0;
  for (const std::string& name : cases) {
    const ReferenceCase reference(name);
    for (const DType dtype : kTypes) {
      MultiHeadAttention layer = layer_of(reference, dtype);
      const Inputs x = inputs_of(reference, dtype);
      AttentionOptions options = options_of(reference, dtype);
      options.weights = false;
      // A mask equal to the look-ahead mask is passed as the option.
      if (options.mask.defined() && options.mask.dim(0) == options.mask.dim(1) &&
          options.mask.to_vector<uint8_t>() == look_ahead_mask(options.mask.dim(0)).to_vector<uint8_t>()) {
        options.mask = {};
        options.look_ahead = true;
      }
      streamed += options.mask.defined() || options.padding.defined() || options.bias.defined() ? 0 : 1;
      const bool same = reference.has("gradient.input");
      const Tensor& key = same ? x.query : x.key;
      const Tensor& value = same ? x.query : x.value;
      expect_reference(reference, "expected.output",
                       layer.forward_training(x.query, key, value, options).output);
      const AttentionGradients gradients = layer.backward(x.upstream);
      expect_reference(reference, same ? "gradient.input" : "gradient.query", gradients.query);
      expect_gradients(reference, gradients);
    }
  }
  EXPECT_GE(streamed, 4) << "no case was streamed";
}

/// The rows [b, 0 .. lengths[b]) of (B, T, W), one after the other: (N, W).
Tensor pack(const Tensor& padded, const std::vector<int64_t>& offsets) {
  Tensor rows = Tensor::empty({offsets.back(), padded.dim(2)}, padded.dtype());
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    const int64_t count = offsets[b + 1] - offsets[b];
    const Tensor from = padded.narrow(0, static_cast<int64_t>(b), 1).narrow(1, 0, count).clone();
    std::copy_n(static_cast<const char*>(from.bytes()),
                static_cast<size_t>(from.size()) * size_of(from.dtype()),
                static_cast<char*>(rows.narrow(0, offsets[b], count).bytes()));
  }
  return rows;
}

// Keys without their padding give the same outputs.
TEST(AttentionReference, PackedKeys) {
  const auto cases = fixture_cases("mha");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  int packed = 0;
  for (const std::string& name : cases) {
    const ReferenceCase reference(name);
    if (!reference.hyperparameters().contains("key_lengths") || reference.has("input.attention_visible"))
      continue;
    ++packed;
    for (const DType dtype : kTypes) {
      const MultiHeadAttention layer = layer_of(reference, dtype);
      const Inputs x = inputs_of(reference, dtype);
      MultiHeadAttention::PackedOptions options{.query_offsets = {0}, .key_offsets = {0}};
      for (const auto& length : reference.hyperparameters().at("key_lengths")) {
        options.query_offsets.push_back(options.query_offsets.back() + x.query.dim(1));
        options.key_offsets.push_back(options.key_offsets.back() + length.get<int64_t>());
      }
      const Tensor output =
          layer
              .forward_packed(pack(x.query, options.query_offsets), pack(x.key, options.key_offsets),
                              pack(x.value, options.key_offsets), options)
              .output;
      expect_reference(reference, "expected.output", output.reshape(x.query.shape()));
    }
  }
  EXPECT_GE(packed, 1);
}

TEST(AttentionReference, DropoutOfWeightsWithTheMaskGiven) {
  const auto cases = fixture_cases("attention_weights_with_dropout");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  for (const std::string& name : cases) {
    const ReferenceCase reference(name);
    for (const DType dtype : kTypes) {
      Tape tape;
      const Var query = tape.leaf(reference.tensor("input.query", dtype));
      const Var key = tape.leaf(reference.tensor("input.key", dtype));
      const Var value = tape.leaf(reference.tensor("input.value", dtype));
      ops::AttentionMask mask;
      mask.key_visible = reference.tensor("input.key_visible");
      const Var weights =
          nn::scaled_dot_product_attention(query, key, value, mask).weights;  // (B, H, Tq, Tk)
      const Var dropped =
          ops::dropout(weights, reference.tensor("input.keep"), reference.hyperparameters().at("p"));
      const int64_t matrices = query.dim(0) * query.dim(1);
      const auto layout = ops::AttentionLayout::padded(matrices, query.dim(2), key.dim(2));
      const Var output = ops::attention_mix(dropped, {.value = {value, 0, value.dim(3)}}, layout);
      expect_reference(reference, "expected.weights", weights.value());
      expect_reference(reference, "expected.dropped_weights", dropped.value());
      const Tensor expected = reference.tensor("expected.output");
      expect_reference(reference, "expected.output", output.value().reshape(expected.shape()));
      tape.backward(output, reference.tensor("upstream.output", dtype).reshape(output.shape()));
      expect_reference(reference, "gradient.query", tape.gradient(query));
      expect_reference(reference, "gradient.key", tape.gradient(key));
      expect_reference(reference, "gradient.value", tape.gradient(value));
    }
  }
}

/// Formats a number like the sample "-25.1623" or "2.2317e-09", with as many decimals.
std::string printed_like(const std::string& digits, double number) {
  const size_t point = digits.find('.'), exponent = digits.find('e');
  const auto decimals = std::min(digits.size(), exponent) - point - 1;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), exponent == std::string::npos ? "%.*f" : "%.*e",
                static_cast<int>(decimals), number);
  return text.data();
}

TEST(LectureReference, TheWorkedExample) {
  const auto cases = fixture_cases("lecture");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  for (const std::string& name : cases) {
    const ReferenceCase reference(name);
    const auto& settings = reference.hyperparameters();
    for (const DType dtype : kTypes) {
      const int64_t word = settings.at("query_index"), width = settings.at("d");
      const Tensor x = reference.tensor("input.x", dtype);  // (T, d)
      const SelfAttentionMatrices u{reference.tensor("parameter.U_query", dtype),
                                    reference.tensor("parameter.U_key", dtype),
                                    reference.tensor("parameter.U_value", dtype)};
      const Tensor query = ops::linear(x, u.query).value(), keys = ops::linear(x, u.key).value();  // (T, d_k)
      const Tensor scores = attention_scores(query, keys, 1).narrow(0, word, 1).clone().reshape({x.dim(0)});
      const AttentionResult attention = self_attention(x, u, {.weights = true});
      const Tensor plain = plain_self_attention(x).output;
      expect_close(plain_self_attention_in_loops(x).output, plain,
                   reference.tolerance("expected.z_2", "float32"), "loops and matrices");
      std::map<std::string, Tensor> results{
          {"omega_23", scores.narrow(0, 2, 1).clone()},
          {"omega_2", scores},
          {"weights", attention.weights.narrow(0, word, 1).clone().reshape({x.dim(0)})},
          {"context", attention.output.narrow(0, word, 1).clone().reshape({u.value.dim(0)})},
          {"z_2", plain.narrow(0, word, 1).clone().reshape({width})}};
      for (const auto& [quantity, actual] : results) {
        const std::string expected = "expected." + quantity;
        const double tolerance = reference.tolerance(expected, "float32");
        expect_close(actual, reference.tensor(expected), tolerance, expected);
        if (!reference.json().contains("printed")) continue;
        const auto& lecture = reference.json().at("printed").at(quantity);
        for (size_t i = 0; i < lecture.size(); ++i) {
          const std::string digits = lecture[i];
          // Equal to the printed digits, except close to a rounding boundary.
          const double number = actual.to_vector<double>()[i], rounding = tolerance / 16;
          const bool printed = printed_like(digits, number) == digits ||
                               printed_like(digits, number - rounding) == digits ||
                               printed_like(digits, number + rounding) == digits;
          EXPECT_TRUE(printed) << quantity << ": " << digits << ", not " << number;
        }
      }
    }
  }
}

}  // namespace
}  // namespace heed
