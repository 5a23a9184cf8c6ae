#include "nn/self_attention.h"

#include "autograd/gradient_check.h"
#include "compare.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::nn {
namespace {

TEST(ScaledDotProductAttention, Gradients) {
  TensorSource source(1);
  ops::AttentionMask mask;
  mask.visible = source.mask({2, 1, 3, 5}, 0.7);
  mask.key_visible = source.mask({2, 5}, 0.8);
  const auto attend = [&](const std::vector<Var>& x) {
    ops::AttentionMask with_bias = mask;
    with_bias.bias = x[3];
    return scaled_dot_product_attention(x[0], x[1], x[2], with_bias).output;
  };
  const Tensor query = source.normal({2, 3, 3, 4}), key = source.normal({2, 3, 5, 4}),
               value = source.normal({2, 3, 5, 2});
  EXPECT_EQ(gradient_mismatch(attend, {query, key, value, source.normal({3, 5})}), "");
  EXPECT_EQ(gradient_mismatch(attend, {query, key, value, source.normal({2, 3, 3, 5})}), "");
  expect_error(ErrorKind::kShape,
               "a bias of (1, 3, 3, 5) that wants a gradient must be as large as the weights", [&] {
                 Tape tape;
                 attend({query, key, value, tape.leaf(source.normal({1, 3, 3, 5}))});
               });
}

TEST(PlainSelfAttention, Gradients) {
  EXPECT_EQ(gradient_mismatch([](const auto& x) { return plain_self_attention(x[0]).output; },
                              {TensorSource(2).normal({2, 4, 3}, DType::kFloat64, 0.7)}),
            "");
}

TEST(ScaledDotProductAttention, MatricesWithoutAxesInFront) {
  TensorSource source(3);
  const Tensor query = source.normal({3, 4}), key = source.normal({5, 4}), value = source.normal({5, 2});
  ops::AttentionMask mask;
  mask.key_visible = Tensor::from<uint8_t>({1, 1, 0, 1, 0}, {5});
  const auto [output, weights] = scaled_dot_product_attention(query, key, value, mask);
  EXPECT_EQ(output.shape().to_string(), "(3, 2)");
  for (int64_t q = 0; q < 3; ++q) {
    EXPECT_EQ(weights.value().data<double>()[q * 5 + 2], 0);
    EXPECT_GT(weights.value().data<double>()[q * 5 + 3], 0);
  }
  mask.key_visible = Tensor::from<uint8_t>({1, 1}, {2});
  expect_error(ErrorKind::kShape, "a padding mask of (2) does not fit weights of (3, 5)",
               [&] { scaled_dot_product_attention(query, key, value, mask); });
  expect_error(ErrorKind::kShape, "a mask of (5, 3) does not fit weights of (3, 5)", [&] {
    ops::AttentionMask wrong;
    wrong.visible = source.mask({5, 3});
    scaled_dot_product_attention(query, key, value, wrong);
  });
}

}  // namespace
}  // namespace heed::nn
