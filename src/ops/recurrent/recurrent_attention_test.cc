#include "ops/recurrent/recurrent_attention.h"

#include "compare.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

const AttentionLayout kRaggedLayout = AttentionLayout::packed({0, 2, 2, 3}, {0, 3, 5, 9});

TEST(RecurrentAttention, DotProductsAreAttentionWithoutScale) {
  TensorSource source(1);
  const Tensor q = source.normal({3, 4}), k = source.normal({9, 4}), h = source.normal({9, 5});
  const AttentionOperands operands{{q, 0, 4}, {k, 0, 4}, {h, 0, 5}, 1, 1};
  const Var weights = attention_softmax(attention_scores(operands, kRaggedLayout), kRaggedLayout, 1, {});
  const RecurrentAttentionOutput result = recurrent_attention(q, k, h, {}, kRaggedLayout);
  expect_close(result.weights, weights.value(), 1e-14, "weights");  // sums of four products
  expect_close(result.context.value(), flash_attention(operands, kRaggedLayout, false).value(), 1e-14,
               "context");
}

TEST(RecurrentAttention, AdditiveScoresAreTheirFormula) {
  const Tensor q = Tensor::from<double>({0.5, -1}, {1, 2}), k = Tensor::from<double>({1, 2, 0, -1}, {2, 2});
  const Tensor v = Tensor::from<double>({2, -3}, {2}), h = Tensor::from<double>({10, 20}, {2, 1});
  const double a = 2 * std::tanh(1.5) - 3 * std::tanh(1.0), b = 2 * std::tanh(0.5) - 3 * std::tanh(-2.0);
  const double first = 1 / (1 + std::exp(b - a));
  const RecurrentAttentionOutput result =
      recurrent_attention(q, k, h, v, AttentionLayout::packed({0, 1}, {0, 2}));
  expect_close(result.weights, Tensor::from<double>({first, 1 - first}, {2}), 1e-14, "weights");
  expect_close(result.context.value(), Tensor::from<double>({20 - 10 * first}, {1, 1}), 1e-13, "context");
}

TEST(RecurrentAttention, AQueryWithoutKeysMixesToZero) {
  TensorSource source(1);
  const auto result = recurrent_attention(source.normal({1, 4}), source.normal({2, 4}), source.normal({2, 3}),
                                          {}, AttentionLayout::packed({0, 1}, {0, 0}));
  expect_equal(result.context.value(), Tensor::zeros({1, 3}, DType::kFloat64), "context");
}

TEST(RecurrentAttention, ErrorsNameShapes) {
  const Tensor q = Tensor::zeros({3, 4}), k = Tensor::zeros({9, 4});
  expect_error(ErrorKind::kShape, "(3, 4) and keys (9, 5) must be equally wide", [&] {
    recurrent_attention(q, Tensor::zeros({9, 5}), k, {}, kRaggedLayout);
  });
  expect_error(ErrorKind::kShape, "keys (9, 4) and values (8, 4)", [&] {
    recurrent_attention(q, k, Tensor::zeros({8, 4}), {}, kRaggedLayout);
  });
  expect_error(ErrorKind::kShape, "v must be (4)",
               [&] { recurrent_attention(q, k, k, Tensor::zeros({5}), kRaggedLayout); });
  expect_error(ErrorKind::kShape, "hold 3 queries of (4, 4)", [&] {
    recurrent_attention(Tensor::zeros({4, 4}), k, k, {}, kRaggedLayout);
  });
}

GRADIENT_CHECK(recurrent_attention, AdditiveAndDot) {
  TensorSource source(2);
  const auto additive = [](const auto& x) {
    return recurrent_attention(x[0], x[1], x[2], x[3], kRaggedLayout).context;
  };
  expect_gradients(additive,
                   {source.normal({3, 5}), source.normal({9, 5}), source.normal({9, 3}), source.normal({5})});
  const auto dot = [](const auto& x) {
    return recurrent_attention(x[0], x[1], x[2], {}, kRaggedLayout).context;
  };
  expect_gradients(dot, {source.normal({3, 5}), source.normal({9, 5}), source.normal({9, 3})});
  const auto own = [](const auto& x) {
    return recurrent_attention(x[0], x[1], x[1], {}, kRaggedLayout).context;
  };
  expect_gradients(own, {source.normal({3, 5}), source.normal({9, 5})});
}

}  // namespace
}  // namespace heed::ops
