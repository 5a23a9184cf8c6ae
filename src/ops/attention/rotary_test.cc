#include "ops/attention/rotary.h"

#include <cmath>

#include "compare.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

RotaryAngles angles_of(const std::vector<int32_t>& positions, int64_t head_width, RotaryLayout layout) {
  return rotary_angles(positions, {.head_width = head_width, .layout = layout, .dtype = DType::kFloat64});
}

TEST(Rotary, TurnsPairs) {
  const RotaryAngles angles = angles_of({3}, 4, RotaryLayout::kHalves);
  const Tensor x = Tensor::from<double>({1, 0, 0, 2, 9}, {1, 5});
  // Pair 0 is (x_0, x_2), turned by 3; pair 1 is (x_1, x_3), turned by 3 / sqrt(10000).
  expect_close(
      rotate(x, 4, angles).value(),
      Tensor::from<double>({std::cos(3), -2 * std::sin(0.03), std::sin(3), 2 * std::cos(0.03), 9}, {1, 5}),
      1e-15, "halves");
  expect_close(
      rotate(x, 4, angles_of({3}, 4, RotaryLayout::kInterleaved)).value(),
      Tensor::from<double>({std::cos(3), std::sin(3), -2 * std::sin(0.03), 2 * std::cos(0.03), 9}, {1, 5}),
      1e-15, "interleaved");
}

/// The dot product of a row at one position with another at a second.
double score(const Tensor& query, const Tensor& key, int32_t i, int32_t j, RotaryLayout layout) {
  const int64_t width = query.dim(1);
  const Tensor q = rotate(query, width, angles_of({i}, width, layout)).value();
  const Tensor k = rotate(key, width, angles_of({j}, width, layout)).value();
  double sum = 0;
  for (int64_t c = 0; c < width; ++c) sum += q.data<double>()[c] * k.data<double>()[c];
  return sum;
}

TEST(Rotary, ScoresDependOnTheDistanceAlone) {
  TensorSource source(1);
  const Tensor query = source.normal({1, 6}), key = source.normal({1, 6});
  for (const RotaryLayout layout : {RotaryLayout::kHalves, RotaryLayout::kInterleaved}) {
    EXPECT_NEAR(score(query, key, 5, 2, layout), score(query, key, 105, 102, layout), 1e-12);
    EXPECT_GT(std::abs(score(query, key, 5, 2, layout) - score(query, key, 5, 3, layout)), 1e-3);
  }
}

TEST(Rotary, StretchDividesPositions) {
  const RotaryOptions once{.head_width = 6, .dtype = DType::kFloat64};
  RotaryOptions stretched = once;
  stretched.scaling = {.kind = RotaryScaling::Kind::kLinear, .factor = 4};
  expect_close(rotary_angles({8}, stretched).sines, rotary_angles({2}, once).sines, 1e-15, "sines");
}

/// Values of transformers 5.23, which computes in float32.
TEST(Rotary, ScaledFrequencies) {
  using Kind = RotaryScaling::Kind;
  const auto expect_frequencies = [](double base, const RotaryScaling& scaling,
                                     const std::vector<double>& expected) {
    const std::vector<double> actual = rotary_frequencies(16, base, scaling);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t k = 0; k < actual.size(); ++k) {
      EXPECT_NEAR(actual[k], expected[k], 1e-6 * expected[k]) << "pair " << k;
    }
  };
  expect_frequencies(500000,
                     {.kind = Kind::kLlama3,
                      .factor = 8,
                      .original_length = 256,
                      .low_frequency_factor = 1,
                      .high_frequency_factor = 4},
                     {1, 0.19392276, 0.010538231, 0.00091158313, 0.00017677668, 3.4281024e-05, 6.6478697e-06,
                      1.2891732e-06});
  expect_frequencies(
      10000, {.kind = Kind::kYarn, .factor = 4, .original_length = 1024},
      {1, 0.31622776, 0.081250004, 0.019764237, 0.004375, 0.00079056947, 0.00025000001, 7.9056947e-05});
  expect_frequencies(
      10000,
      {.kind = Kind::kYarn,
       .factor = 4,
       .original_length = 1024,
       .beta_fast = 16,
       .beta_slow = 2,
       .truncate = false},
      {1, 0.31622776, 0.1, 0.018701805, 0.0024999999, 0.00079056947, 0.00025000001, 7.9056947e-05});
  expect_error(ErrorKind::kUsage, "an original length above 0",
               [] { rotary_frequencies(16, 10000, {.kind = Kind::kYarn, .factor = 4}); });
}

TEST(Rotary, YarnsAmplitude) {
  RotaryOptions options{.head_width = 2, .dtype = DType::kFloat64};
  options.scaling = {.kind = RotaryScaling::Kind::kYarn, .original_length = 64, .amplitude = 1.5};
  EXPECT_NEAR(rotary_angles({1}, options).cosines.to_vector<double>()[0], 1.5 * std::cos(1), 1e-12);
}

TEST(Rotary, ErrorsNameTheShapes) {
  expect_error(ErrorKind::kShape, "even width, not 3", [] { angles_of({0}, 3, RotaryLayout::kHalves); });
  expect_error(ErrorKind::kShape, "angles of (2, 2) do not fit the first 4 columns of x (3, 4)", [] {
    rotate(Tensor::zeros({3, 4}, DType::kFloat64), 4, angles_of({0, 1}, 4, RotaryLayout::kHalves));
  });
}

GRADIENT_CHECK(rotate, BothLayoutsAndUnturnedColumns) {
  for (const RotaryLayout layout : {RotaryLayout::kHalves, RotaryLayout::kInterleaved}) {
    TensorSource source(2);
    const RotaryAngles angles = angles_of({0, 7, 3}, 4, layout);
    expect_gradients([&](const auto& x) { return rotate(x[0], 8, angles); }, {source.normal({3, 11})});
  }
}

}  // namespace
}  // namespace heed::ops
