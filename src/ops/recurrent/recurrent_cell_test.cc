#include "ops/recurrent/recurrent_cell.h"

#include <cmath>

#include "compare.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

TEST(GruCell, IsItsFormula) {
  const Tensor x = Tensor::from<double>({0.5, -1, 2}, {1, 3}),
               hidden = Tensor::from<double>({1, 2, -1}, {1, 3});
  const double r = sigmoid(1.5), z = sigmoid(1), n = std::tanh(2 - r);
  expect_close(gru_cell(x, hidden, Tensor::from<double>({0.25}, {1, 1})).value(),
               Tensor::from<double>({(1 - z) * n + z * 0.25}, {1, 1}), 1e-15, "h");
}

TEST(GruCell, AnUpdateGateOfOneKeepsTheState) {
  TensorSource source(1);
  const Tensor h = source.normal({4, 3});
  Tensor x = source.normal({4, 9});
  for (int64_t row = 0; row < 4; ++row) {
    for (int64_t c = 3; c < 6; ++c) x.data<double>()[row * 9 + c] = 1000;
  }
  // n + 1 (h - n), of numbers up to 3
  expect_close(gru_cell(x, Tensor::zeros({4, 9}, DType::kFloat64), h).value(), h, 2e-15, "h");
}

TEST(LstmCell, IsItsFormula) {
  const Tensor x = Tensor::from<double>({0.5, -1, 2, 0.25}, {1, 4});
  const Tensor hidden = Tensor::from<double>({1, 2, -1, 0.5}, {1, 4});
  const double i = sigmoid(1.5), f = sigmoid(1), g = std::tanh(1), o = sigmoid(0.75), c = f * 0.3 + i * g;
  expect_close(lstm_cell(x, hidden, Tensor::from<double>({0.3}, {1, 1})).value(),
               Tensor::from<double>({o * std::tanh(c), c}, {1, 2}), 1e-15, "h and c");
}

TEST(RecurrentCells, ErrorsNameShapes) {
  const Tensor gates = Tensor::zeros({2, 9});
  expect_error(ErrorKind::kShape, "a state of (2, 4) needs gates of 3 times its width, not (2, 9)", [&] {
    gru_cell(gates, gates, Tensor::zeros({2, 4}));
  });
  expect_error(ErrorKind::kShape, "(2, 9) and (2, 8)", [&] {
    lstm_cell(gates, Tensor::zeros({2, 8}), Tensor::zeros({2, 2}));
  });
}

GRADIENT_CHECK(gru_cell, AllInputs) {
  TensorSource source(2);
  const auto cell = [](const auto& x) { return gru_cell(x[0], x[1], x[2]); };
  for (const int64_t width : {1, 5, 9}) {
    expect_gradients(
        cell, {source.normal({3, 3 * width}), source.normal({3, 3 * width}), source.normal({3, width})});
  }
}

GRADIENT_CHECK(lstm_cell, AllInputs) {
  TensorSource source(3);
  const auto cell = [](const auto& x) { return lstm_cell(x[0], x[1], x[2]); };
  for (const int64_t width : {1, 5, 9}) {
    expect_gradients(
        cell, {source.normal({3, 4 * width}), source.normal({3, 4 * width}), source.normal({3, width})});
  }
}

}  // namespace
}  // namespace heed::ops
