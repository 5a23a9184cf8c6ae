#include "ops/attention/attention_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

// Two sequences: 2 queries and 3 keys, 1 query and 2 keys; two heads.
const AttentionLayout kLayout = AttentionLayout::packed({0, 2, 3}, {0, 3, 5});
const std::vector<AttentionLink> kLinks{{0, 0, 1, 1}, {0, 1, 0, 0.5F}, {0, 1, 2, 0.5F}, {1, 0, 1, 1}};

TEST(AttentionCrossEntropy, SumsMinusLogOfTheLinkedWeightsOfOneHead) {
  // Head 0 of sequence 0, head 1 of sequence 0, head 0 of sequence 1, head 1 of sequence 1.
  const Tensor weights = Tensor::from(
      std::vector<float>{1, 1, 1, 1, 1, 1, 0.2F, 0.5F, 0.3F, 0.1F, 0.5F, 0.4F, 1, 1, 0.2F, 0.8F}, {16});
  const Var loss = attention_cross_entropy(weights, kLayout, {1, 2}, kLinks, 2);
  EXPECT_NEAR(loss.value().to_vector<float>()[0],
              -2 * (std::log(0.5) + 0.5 * std::log(0.1) + 0.5 * std::log(0.4) + std::log(0.8)), 1e-5);
  EXPECT_EQ(attention_cross_entropy(weights, kLayout, {0, 2}, kLinks).value().to_vector<float>()[0], 0);
}

TEST(AttentionCrossEntropy, OfAWeightOfZeroIsFinite) {
  const Var loss = attention_cross_entropy(Tensor::zeros({16}), kLayout, {1, 2}, kLinks);
  EXPECT_NEAR(loss.value().to_vector<float>()[0], -3 * std::log(1e-20), 1e-3);
}

TEST(AttentionCrossEntropy, RefusesWhatDoesNotFit) {
  const Tensor weights = Tensor::zeros({16});
  const auto with = [&](const AttentionLink& link, int head = 0) {
    return [&weights, link, head] { attention_cross_entropy(weights, kLayout, {head, 2}, {link}); };
  };
  expect_error(ErrorKind::kUsage, "no head 2", with({0, 0, 0, 1}, 2));
  expect_error(ErrorKind::kUsage, "no query 2", with({0, 2, 0, 1}));
  expect_error(ErrorKind::kUsage, "key 2", with({1, 0, 2, 1}));
  expect_error(ErrorKind::kUsage, "span 2", with({2, 0, 0, 1}));
  expect_error(ErrorKind::kShape, "2 heads", [] {
    attention_cross_entropy(Tensor::zeros({15}), kLayout, {0, 2}, kLinks);
  });
}

// Through the softmax: what a training differentiates.
GRADIENT_CHECK(attention_cross_entropy, ThroughTheSoftmax) {
  TensorSource source(7);
  expect_gradients(
      [](const auto& x) {
        return attention_cross_entropy(attention_softmax(x[0], kLayout, 2, {}), kLayout, {1, 2}, kLinks, 0.7);
      },
      {source.normal({16})});
}

}  // namespace
}  // namespace heed::ops
