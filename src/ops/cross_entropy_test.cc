#include "ops/cross_entropy.h"

#include <cmath>
#include <utility>

#include "compare.h"
#include "ops/elementwise.h"
#include "ops/gradient_test.h"
#include "ops/linear.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

/// The definition, for one row of logits.
double exact_loss(const double* logits, int64_t classes, int64_t target, double smoothing, bool others) {
  double sum = 0, all = 0;
  for (int64_t c = 0; c < classes; ++c) sum += std::exp(logits[c] - logits[0]);
  const auto minus_log_p = [&](int64_t c) { return logits[0] + std::log(sum) - logits[c]; };
  for (int64_t c = 0; c < classes; ++c) all += others && c == target ? 0 : minus_log_p(c);
  const auto sharing = static_cast<double>(others ? classes - 1 : classes);
  return (1 - smoothing) * minus_log_p(target) + smoothing / sharing * all;
}

TEST(CrossEntropy, FollowsItsDefinition) {
  TensorSource source(1);
  for (const int64_t classes : {2, 3, 17, 40}) {
    const Tensor logits = source.normal({5, classes}, DType::kFloat64, 3), targets = source.ids({5}, classes);
    for (const double smoothing : {0.0, 0.1, 0.5}) {
      for (const bool others : {false, true}) {
        const Tensor losses = cross_entropy(logits, targets, {smoothing, others}).value();
        for (int64_t row = 0; row < 5; ++row) {
          EXPECT_NEAR(losses.data<double>()[row],
                      exact_loss(logits.data<double>() + row * classes, classes, targets.data<int32_t>()[row],
                                 smoothing, others),
                      1e-13);
        }
      }
    }
  }
}

// In float32 a logarithm of the sum of size 500 would be off by 3e-5, and with it every probability.
TEST(CrossEntropy, AShiftCostsNoPrecisionInFloat32) {
  TensorSource source(8);
  Tensor logits = source.normal({3, 17}, DType::kFloat32, 3);
  const Tensor targets = source.ids({3}, 17);
  for (int64_t i = 0; i < logits.size(); ++i) {
    logits.data<float>()[i] =
        std::round(logits.data<float>()[i] * 1024) / 1024 + 500;  // exact_loss in float32
  }
  const auto run = [&](const Tensor& z) {
    Tape tape;
    const Var leaf = tape.leaf(z);
    const Var losses = cross_entropy(leaf, targets, {0.1});
    tape.backward(losses);
    return std::pair(losses.value(), tape.gradient(leaf));
  };
  const auto [losses, gradient] = run(logits);
  const auto [exact_losses, exact_gradient] = run(logits.to(DType::kFloat64));
  // Sums of 17 terms of size 10, and of 1.
  expect_close(losses, exact_losses, 17 * 10 * 0x1p-23, "losses");
  expect_close(gradient, exact_gradient, 17 * 0x1p-23, "gradient");
}

TEST(CrossEntropy, AShiftOfAllLogitsChangesNothing) {
  TensorSource source(2);
  const Tensor logits = source.normal({3, 9}), targets = source.ids({3}, 9);
  Tensor shifted = logits.clone();
  for (int64_t i = 0; i < shifted.size(); ++i) shifted.data<double>()[i] += i < 9 ? 1000 : -1000;
  // The logits themselves are rounded to 1000 * 2^-53 by the shift.
  expect_close(cross_entropy(shifted, targets, {0.1}).value(), cross_entropy(logits, targets, {0.1}).value(),
               16 * 1000 * 0x1p-52, "losses");
  Tensor changed = logits.clone();
  changed.data<double>()[0] += 1;
  EXPECT_GT(std::abs(cross_entropy(changed, targets).value().data<double>()[0] -
                     cross_entropy(logits, targets).value().data<double>()[0]),
            1e-3);
}

TEST(CrossEntropy, IgnoredTargetsCountNothing) {
  Tape tape;
  const Var logits = tape.leaf(TensorSource(3).normal({3, 5}));
  const Tensor targets = Tensor::from<int32_t>({1, 4, 2}, {3});
  const Var losses = cross_entropy(logits, targets, {0.1, false, 4});
  EXPECT_EQ(losses.value().data<double>()[1], 0);
  EXPECT_GT(losses.value().data<double>()[0], 0);
  tape.backward(losses);
  expect_equal(tape.gradient(logits).narrow(0, 1, 1).clone(), Tensor::zeros({1, 5}, DType::kFloat64),
               "no gradient");
}

TEST(CrossEntropy, Errors) {
  const Tensor logits = Tensor::zeros({2, 3});
  expect_error(ErrorKind::kShape, "3 targets for 2 rows",
               [&] { cross_entropy(logits, Tensor::zeros({3}, DType::kInt32)); });
  expect_error(ErrorKind::kUsage, "target 3 at index 1 is not one of 3 classes", [&] {
    cross_entropy(logits, Tensor::from<int32_t>({0, 3}, {2}));
  });
  expect_error(ErrorKind::kUsage, "smoothing must be at least 0 and below 1, not 1.5",
               [&] { cross_entropy(logits, Tensor::zeros({2}, DType::kInt32), {1.5}); });
}

GRADIENT_CHECK(cross_entropy, BothSmoothings) {
  TensorSource source(4);
  for (const int64_t classes : {1, 2, 7, 33}) {
    const Tensor targets = source.ids({3}, classes);
    for (const bool others : {false, true}) {
      for (const double smoothing : {0.0, 0.1}) {
        const CrossEntropyOptions options{smoothing, others, classes > 2 ? targets.data<int32_t>()[1] : -1};
        expect_gradients([&](const auto& x) { return cross_entropy(x[0], targets, options); },
                         {source.normal({3, classes})});
      }
    }
  }
}

struct Vocabulary {
  TensorSource source{5};
  Tensor hidden = source.normal({7, 5}), weight = source.normal({11, 5}), bias = source.normal({11});
  Tensor targets = source.ids({7}, 11);
};

TEST(VocabularyCrossEntropy, IsTheCrossEntropyOfALinearLayer) {
  const Vocabulary v;
  CrossEntropyOptions options{0.1, false, v.targets.data<int32_t>()[2]};
  options.scale = 0.25;
  const VocabularyLoss result = vocabulary_cross_entropy(v.hidden, v.weight, v.bias, v.targets, options);
  const Var logits = linear(v.hidden, v.weight, v.bias);
  double sum = 0, likelihood = 0;
  int64_t tokens = 0;
  const std::vector<double> losses = cross_entropy(logits, v.targets, options).value().to_vector<double>();
  const std::vector<double> plain =
      cross_entropy(logits, v.targets, {0, false, options.ignored}).value().to_vector<double>();
  for (size_t t = 0; t < losses.size(); ++t) {
    sum += losses[t];
    likelihood += plain[t];
    tokens += v.targets.data<int32_t>()[t] != options.ignored ? 1 : 0;
  }
  EXPECT_NEAR(result.loss_sum, sum, 1e-12);
  EXPECT_NEAR(result.negative_log_likelihood, likelihood, 1e-12);
  EXPECT_NEAR(result.loss.value().data<double>()[0], 0.25 * sum, 1e-12);
  EXPECT_EQ(result.tokens, tokens);
  EXPECT_LT(tokens, 7);
}

// More rows than fit into one block of logits.
TEST(VocabularyCrossEntropy, BlocksOfRowsMakeNoDifference) {
  constexpr int64_t kRows = 115, kWidth = 3, kClasses = 20000;
  TensorSource source(6);
  const Tensor hidden = source.normal({kRows, kWidth}), weight = source.normal({kClasses, kWidth});
  const Tensor targets = source.ids({kRows}, kClasses);
  Tape tape;
  const Var h = tape.leaf(hidden), w = tape.leaf(weight);
  const VocabularyLoss all = vocabulary_cross_entropy(h, w, {}, targets, {0.1});
  tape.backward(all.loss);
  Tape other;
  const Var h2 = other.leaf(hidden), w2 = other.leaf(weight);
  const Var losses = cross_entropy(linear(h2, w2), targets, {0.1});
  other.backward(losses);
  double sum = 0;
  for (const double loss : losses.value().to_vector<double>()) sum += loss;
  EXPECT_NEAR(all.loss_sum, sum, 1e-9);
  expect_close(tape.gradient(h), other.gradient(h2), 1e-10, "hidden");
  expect_close(tape.gradient(w), other.gradient(w2), 1e-12, "weight");
}

TEST(VocabularyCrossEntropy, Errors) {
  const Vocabulary v;
  const auto loss = [&](const Tensor& weight, const Tensor& bias) {
    return vocabulary_cross_entropy(v.hidden, weight, bias, v.targets, {});
  };
  expect_error(ErrorKind::kShape, "hidden (7, 5) does not fit the weight (11, 4)", [&] {
    loss(Tensor::zeros({11, 4}, DType::kFloat64), {});
  });
  expect_error(ErrorKind::kShape, "a weight of (11, 5) needs a bias of (11), not (5)",
               [&] { loss(v.weight, Tensor::zeros({5}, DType::kFloat64)); });
  expect_error(ErrorKind::kShape, "types differ", [&] { loss(v.weight.to(DType::kFloat32), {}); });
}

TEST(VocabularyCrossEntropy, CapsLogits) {
  Vocabulary v;
  CrossEntropyOptions options;
  options.logit_cap = 0.5;
  const Var logits = soft_cap(linear(v.hidden, v.weight, v.bias), options.logit_cap);
  double expected = 0;
  for (const double loss : cross_entropy(logits, v.targets).value().to_vector<double>()) expected += loss;
  EXPECT_NEAR(vocabulary_cross_entropy(v.hidden, v.weight, v.bias, v.targets, options).loss_sum, expected,
              1e-12);
  EXPECT_GT(std::abs(vocabulary_cross_entropy(v.hidden, v.weight, v.bias, v.targets, {}).loss_sum - expected),
            1e-3)
      << "the control: without the cap";
}

GRADIENT_CHECK(vocabulary_cross_entropy, AllInputs) {
  Vocabulary v;
  GradientCheckOptions once;
  once.unit_upstream = true;
  for (const bool others : {false, true}) {
    CrossEntropyOptions options{0.1, others, v.targets.data<int32_t>()[0]};
    options.scale = 0.5;
    expect_gradients(
        [&](const auto& x) { return vocabulary_cross_entropy(x[0], x[1], x[2], v.targets, options).loss; },
        {v.hidden, v.weight, v.bias}, once);
    expect_gradients(
        [&](const auto& x) { return vocabulary_cross_entropy(x[0], x[1], {}, v.targets, options).loss; },
        {v.hidden, v.weight}, once);
  }
  CrossEntropyOptions capped{0.1, false, v.targets.data<int32_t>()[0]};
  capped.logit_cap = 1.5;
  capped.scale = 0.5;
  expect_gradients(
      [&](const auto& x) { return vocabulary_cross_entropy(x[0], x[1], x[2], v.targets, capped).loss; },
      {v.hidden, v.weight, v.bias}, once);
  v.targets = v.source.ids({7}, 5);
  // A hidden state that is an intermediate result, and a weight that serves twice, as shared embeddings do.
  expect_gradients(
      [&](const auto& x) {
        return vocabulary_cross_entropy(linear(x[0], x[1]), x[1], x[2], v.targets, {0.1}).loss;
      },
      {v.hidden, v.source.normal({5, 5}), v.source.normal({5})}, once);
}

}  // namespace
}  // namespace heed::ops
