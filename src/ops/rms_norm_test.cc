#include "ops/rms_norm.h"

#include <cmath>

#include "compare.h"
#include "gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

TEST(RmsNorm, GivesRootMeanSquareOne) {
  const Tensor x = Tensor::from<double>({1, 2, 2, 4, 0, 0, 0, 0}, {2, 4});
  const Tensor weight = Tensor::from<double>({1, 1, 10, 1}, {4});
  const double rms = std::sqrt(25.0 / 4);
  expect_close(rms_norm(x, weight, 0).value().narrow(0, 0, 1).clone(),
               Tensor::from<double>({1 / rms, 2 / rms, 20 / rms, 4 / rms}, {1, 4}), 1e-15, "y");
  expect_equal(rms_norm(x, weight).value().narrow(0, 1, 1).clone(), Tensor::zeros({1, 4}, DType::kFloat64),
               "zeros");
}

TEST(RmsNorm, ErrorsNameTheShapes) {
  expect_error(ErrorKind::kShape, "x (2, 3) needs a weight of (3), not (2)", [] {
    rms_norm(Tensor::zeros({2, 3}), Tensor::zeros({2}));
  });
  expect_error(ErrorKind::kShape, "types differ", [] {
    rms_norm(Tensor::zeros({2, 3}), Tensor::zeros({3}, DType::kFloat64));
  });
}

GRADIENT_CHECK(rms_norm, BothInputs) {
  for (const int64_t width : {1, 2, 5, 17, 33}) {
    TensorSource source(static_cast<uint64_t>(width));
    expect_gradients([](const auto& x) { return rms_norm(x[0], x[1], 0.3); },
                     {source.normal({2, 3, width}), source.normal({width})});
  }
}

}  // namespace
}  // namespace heed::ops
