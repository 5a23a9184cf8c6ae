#include "ops/attention/weighted_sum.h"

#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

TEST(WeightedSum, IsTheSumOfProducts) {
  const Tensor x = Tensor::from(std::vector<double>{1, 2, 4}, {3});
  EXPECT_EQ(weighted_sum(x, Tensor::from(std::vector<double>{1, 0.5, -2}, {3})).value().to_vector<double>(),
            std::vector<double>{-6});
  expect_error(ErrorKind::kShape, "weighted_sum: shapes differ", [&] {
    weighted_sum(x, Tensor::from(std::vector<double>{1, 2}, {2}));
  });
}

GRADIENT_CHECK(weighted_sum, OfAMatrix) {
  TensorSource source(5);
  const Tensor weights = source.normal({3, 5});
  expect_gradients([&](const auto& x) { return weighted_sum(x[0], weights); }, {source.normal({3, 5})});
}

}  // namespace
}  // namespace heed::ops
