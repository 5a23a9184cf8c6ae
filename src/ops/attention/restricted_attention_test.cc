// Sliding windows and soft caps: flash attention against materialized weights, whose masks and caps are
// checked by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compare.h"
#include "kernels/simd/test_isas.h"
#include "ops/attention/attention.h"
#include "ops/elementwise.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

constexpr int kQueryHeads = 4, kSharedHeads = 2;

/// Attention with a window and a cap.
struct Restricted {
  AttentionLayout layout;
  bool causal = true;
  AttentionWindow window{};
  double cap = 0, scale = 0.4;
  DropoutStream dropout{};
  Tensor query, key, value;
};

Restricted restricted(int64_t queries, int64_t keys, int64_t width, DType dtype = DType::kFloat64) {
  TensorSource source(static_cast<uint64_t>(queries + keys));
  Restricted r;
  r.layout = AttentionLayout::packed({0, static_cast<int32_t>(queries)}, {0, static_cast<int32_t>(keys)});
  r.query = source.normal({queries, kQueryHeads * width}, dtype);
  r.key = source.normal({keys, kSharedHeads * width}, dtype);
  r.value = source.normal({keys, kSharedHeads * width}, dtype);
  return r;
}

Var attend(const Restricted& r, const Var& query, const Var& key, const Var& value, bool streaming) {
  AttentionOperands x{{query, 0, query.dim(1)},
                      {key, 0, key.dim(1)},
                      {value, 0, value.dim(1)},
                      kQueryHeads,
                      r.scale,
                      kSharedHeads};
  x.score_cap = r.cap;
  if (streaming) return flash_attention(x, r.layout, r.causal, r.dropout, r.window);
  const Var weights = attention_softmax(attention_scores(x, r.layout), r.layout, kQueryHeads,
                                        {.causal = r.causal, .window = r.window});
  return attention_mix(dropout(weights, r.dropout), x, r.layout);
}

/// Output and gradients of one way.
std::vector<Tensor> results(const Restricted& r, bool streaming) {
  Tape tape;
  const Var query = tape.leaf(r.query), key = tape.leaf(r.key), value = tape.leaf(r.value);
  const Var mixed = attend(r, query, key, value, streaming);
  tape.backward(mixed, TensorSource(77).normal(mixed.shape(), mixed.dtype()));
  return {mixed.value(), tape.gradient(query), tape.gradient(key), tape.gradient(value)};
}

void expect_same(const Restricted& r, const std::string& what) {
  const std::vector<Tensor> expected = results(r, false), actual = results(r, true);
  const char* names[] = {"mixed", "dquery", "dkey", "dvalue"};
  for (size_t n = 0; n < expected.size(); ++n) {
    double largest = 1;
    for (const double each : expected[n].to_vector<double>()) largest = std::max(largest, std::abs(each));
    const double epsilon = r.query.dtype() == DType::kFloat32 ? std::numeric_limits<float>::epsilon()
                                                              : std::numeric_limits<double>::epsilon();
    const auto terms = static_cast<double>(r.query.dim(0) + r.key.dim(0) + 64);
    expect_close(actual[n], expected[n], 32 * epsilon * terms * largest, what + ": " + names[n]);
  }
}

const std::vector<AttentionWindow>& windows() {
  static const std::vector<AttentionWindow> all{
      {}, {0, 0}, {7}, {63, 3}, {128}, {AttentionWindow::kUnlimited, 20}, {1000, 1000}};
  return all;
}

// Lengths on both sides of the blocks of queries and keys, and decode attention.
TEST(RestrictedAttention, FlashAttentionAgreesWithMaterializedWeights) {
  for (const int64_t queries : {1, 3, 49, 300}) {
    for (const int64_t keys : {queries, queries + 30, queries / 2}) {
      Restricted r = restricted(queries, keys, 5);
      for (const AttentionWindow& window : windows()) {
        for (const double cap : {0.0, 0.7}) {
          r.window = window;
          r.cap = cap;
          r.causal = queries % 2 == 1;
          expect_same(r, fmt::format("{} queries, {} keys, window {} {}, cap {}", queries, keys, window.left,
                                     window.right, cap));
        }
      }
    }
  }
}

TEST(RestrictedAttention, WithDropout) {
  Restricted r = restricted(200, 200, 6);
  r.window = {40};
  r.cap = 0.9;
  r.dropout = DropoutStream(RandomKey::from_seed(3), 0.3);
  expect_same(r, "dropout");
}

// Scores so large that weights come from differences of scores.
TEST(RestrictedAttention, WithLargeScores) {
  for (const double cap : {0.0, 300.0}) {
    Restricted r = restricted(150, 150, 4);
    r.scale = 400;
    r.cap = cap;
    r.window = {30};
    expect_same(r, fmt::format("cap {}", cap));
  }
}

// Heads so wide and texts so long that they may go to AMX.
TEST(RestrictedAttention, OnEveryInstructionSet) {
  for (const AttentionWindow window : {AttentionWindow{}, AttentionWindow{50}, AttentionWindow{2000}}) {
    for (const double cap : {0.0, 2.0}) {
      Restricted r = restricted(260, 260, 32, DType::kFloat32);
      r.window = window;
      r.cap = cap;
      on_every_isa([&](const std::string& isa) {
        expect_same(r, fmt::format("{}, window {}, cap {}", isa, window.left, cap));
      });
    }
  }
}

/// Keys outside of the window play no part.
TEST(RestrictedAttention, HiddenKeysPlayNoPart) {
  for (const int64_t queries : {1, 200}) {
    Restricted r = restricted(queries, 200, 8, DType::kFloat32);
    r.window = {10};
    const Tensor before = attend(r, r.query, r.key, r.value, true).value().narrow(0, queries - 1, 1).clone();
    for (int64_t k = 0; k < 189 * r.key.dim(1); ++k) r.key.data<float>()[k] += 5;
    const auto last = [&] {
      return attend(r, r.query, r.key, r.value, true).value().narrow(0, queries - 1, 1).clone();
    };
    expect_equal(last(), before, "hidden");
    r.key.data<float>()[189 * r.key.dim(1)] += 5;  // the first that the last query sees
    EXPECT_NE(last().to_vector<float>(), before.to_vector<float>());
  }
}

TEST(RestrictedAttention, WeightsByHand) {
  const Tensor x = Tensor::from<double>({3, -2, 1, 5}, {4, 1});
  AttentionOperands operands{{x, 0, 1}, {x, 0, 1}, {x, 0, 1}, 1, 0.5};
  operands.score_cap = 2;
  const auto layout = AttentionLayout::padded(1, 4, 4);
  const Var scores = attention_scores(operands, layout);
  EXPECT_NEAR(scores.value().to_vector<double>()[1], 2 * std::tanh(-1.5), 1e-14);
  const auto weights = attention_softmax(scores, layout, 1, {.window = {1, 0}}).value().to_vector<double>();
  const double one = std::exp(2 * std::tanh(-0.5)), other = std::exp(2 * std::tanh(0.25));
  const std::vector<double> row{0, one / (one + other), other / (one + other), 0};
  for (size_t k = 0; k < row.size(); ++k) EXPECT_NEAR(weights[8 + k], row[k], 1e-14) << k;
}

TEST(RestrictedAttention, VisibleKeysByHand) {
  const auto layout = AttentionLayout::packed({0, 2, 5}, {0, 3, 6});
  const auto visible = [&](const AttentionMask& mask) {
    return visible_keys(layout, 2, mask).to_vector<uint8_t>();
  };
  EXPECT_FALSE(visible_keys(layout, 2, {}).defined());
  EXPECT_FALSE(visible_keys(layout, 2, {.window = {9, 9}}).defined()) << "nothing is outside";
  // (sequence, head, query, key): the last query is at the position of the last key.
  const std::vector<uint8_t> first{1, 1, 0, 0, 1, 1}, second{1, 0, 0, 1, 1, 0, 0, 1, 1};
  const auto twice = [](std::vector<uint8_t> one, const std::vector<uint8_t>& other) {
    one.insert(one.end(), one.begin(), one.end());
    for (int n = 0; n < 2; ++n) one.insert(one.end(), other.begin(), other.end());
    return one;
  };
  EXPECT_EQ(visible({.causal = true, .window = {1}}), twice(first, second));
  EXPECT_EQ(visible({.window = {AttentionWindow::kUnlimited, 0}}),
            twice({1, 1, 0, 1, 1, 1}, {1, 0, 0, 1, 1, 0, 1, 1, 1}));
  AttentionMask padding{.causal = true, .window = {1}};
  padding.key_visible = Tensor::from<uint8_t>({1, 0, 1, 1, 1, 1}, {6});
  EXPECT_EQ(visible(padding), twice({1, 0, 0, 0, 0, 1}, second));
}

TEST(RestrictedAttention, RefusesNegativeOptions) {
  const Restricted r = restricted(3, 3, 2);
  Restricted negative = r;
  negative.window.left = -1;
  expect_error(ErrorKind::kUsage, "a window must not be negative",
               [&] { attend(negative, r.query, r.key, r.value, true); });
  negative = r;
  negative.cap = -1;
  expect_error(ErrorKind::kUsage, "the soft cap must not be -1",
               [&] { attend(negative, r.query, r.key, r.value, false); });
}

GRADIENT_CHECK(flash_attention, WindowAndCap) {
  for (const int64_t length : {4, 9}) {  // decode attention, and blocks
    for (const bool causal : {false, true}) {
      Restricted r = restricted(length, length, 3);
      r.window = {2, 1};
      r.cap = 0.8;
      r.causal = causal;
      expect_gradients([&](const auto& x) { return attend(r, x[0], x[1], x[2], true); },
                       {r.query, r.key, r.value});
    }
  }
}

GRADIENT_CHECK(attention_scores, WithACap) {
  Restricted r = restricted(3, 4, 2);
  r.cap = 0.8;
  expect_gradients([&](const auto& x) { return attend(r, x[0], x[1], x[2], false); },
                   {r.query, r.key, r.value});
}

}  // namespace
}  // namespace heed::ops
