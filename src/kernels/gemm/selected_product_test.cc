#include "kernels/gemm/selected_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "base/rng.h"
#include "kernels/gemm/packed/packed_int8.h"
#include "kernels/gemm/packed/packed_matrix.h"
#include "kernels/simd/test_isas.h"
#include "kernels/simd/test_numbers.h"

namespace heed {
namespace {

/// A matrix with 50 outputs, and some of them, out of order and with one twice.
struct SelectedProductTest : testing::TestWithParam<int64_t> {
  const int64_t in = GetParam();
  const std::vector<int32_t> outputs{3, 49, 0, 17, 17, 21, 8, 9, 33, 40, 2};
  static constexpr int64_t kOut = 50, kRows = 7;
  std::vector<float> x = normal<float>(kRows * in, 1), weight = normal<float>(kOut * in, 2),
                     bias = normal<float>(kOut, 3);
  std::vector<int8_t> values = std::vector<int8_t>(weight.size());
  std::vector<float> scales = std::vector<float>(kOut);
  std::vector<int32_t> sums = std::vector<int32_t>(kOut);

  void SetUp() override {
    quantize_weights(
        {.rows = kOut, .columns = in, .x = weight.data(), .values = values.data(), .scales = scales.data()});
    sum_rows_int8(values.data(), kOut, in, sums.data());
  }
  template <class Arguments>
  std::vector<float> run(Arguments arguments, int64_t first, int64_t rows, bool with_bias) const {
    std::vector<float> y(static_cast<size_t>(rows) * outputs.size());
    arguments.rows = rows;
    arguments.in = in;
    arguments.count = static_cast<int64_t>(outputs.size());
    arguments.x = x.data() + first * in;
    arguments.outputs = outputs.data();
    arguments.bias = with_bias ? bias.data() : nullptr;
    arguments.y = y.data();
    selected_product(arguments);
    return y;
  }
  std::vector<float> run_float(int64_t first, int64_t rows, bool with_bias) const {
    return run(SelectedProductArguments{.weight = weight.data()}, first, rows, with_bias);
  }
  std::vector<float> run_int8(int64_t first, int64_t rows, bool with_bias, bool with_sums = true) const {
    return run(
        Int8SelectedProductArguments{
            .weight = values.data(), .scales = scales.data(), .sums = with_sums ? sums.data() : nullptr},
        first, rows, with_bias);
  }
  /// The same numbers of a product with all outputs.
  std::vector<float> selected_of(const PackedMatrix& matrix) const {
    std::vector<float> all(kRows * kOut), selected;
    // The first products of few rows are selected ones, too.
    constexpr int kUntilPacked = 20;
    for (int call = 0; call < kUntilPacked; ++call) matrix.multiply(x.data(), kRows, all.data());
    for (int64_t row = 0; row < kRows; ++row) {
      for (const int32_t output : outputs) selected.push_back(all[row * kOut + output]);
    }
    return selected;
  }
};

TEST_P(SelectedProductTest, Int8IsBitwiseEqualToTheWholeProduct) {
  // Rows of 128 elements and more have outliers (docs/adr/0033).
  for (int64_t row = 1; row < kRows; ++row) {
    for (int64_t n = 0; n < row && n < in; ++n) x[row * in + in - 1 - n] = n % 2 == 0 ? -90.0f : 100.0f;
  }
  for (const bool with_bias : {true, false}) {
    on_every_isa([&](const std::string& isa) {
      const PackedMatrix whole(values.data(), scales.data(), kOut, in, with_bias ? bias.data() : nullptr);
      const std::vector<float> expected = selected_of(whole);
      for (const bool with_sums : {true, false}) {
        const std::vector<float> actual = run_int8(0, kRows, with_bias, with_sums);
        for (size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(std::bit_cast<uint32_t>(actual[i]), std::bit_cast<uint32_t>(expected[i]))
              << isa << ", " << i << (with_sums ? ", with sums" : "");
        }
      }
    });
  }
}

// Activations and weights as large as they get: no instruction set saturates.
TEST_P(SelectedProductTest, In8BitsExtremeNumbersDoNotSaturate) {
  for (const float sign : {1.0f, -1.0f}) {
    std::fill(x.begin(), x.end(), 1.0f);
    std::fill(values.begin(), values.end(), static_cast<int8_t>(sign * 127));
    std::fill(scales.begin(), scales.end(), 1.0f);
    on_every_isa([&](const std::string& isa) {
      for (const float y : run_int8(0, kRows, false, false)) {
        ASSERT_NEAR(y, sign * 127 * static_cast<float>(in), 1e-6 * 127 * static_cast<double>(in)) << isa;
      }
    });
  }
}

TEST_P(SelectedProductTest, Float32IsTheWholeProduct) {
  for (const bool with_bias : {true, false}) {
    on_every_isa([&](const std::string& isa) {
      const PackedMatrix whole(weight.data(), kOut, in, with_bias ? bias.data() : nullptr);
      const std::vector<float> expected = selected_of(whole), actual = run_float(0, kRows, with_bias);
      const double tolerance = 1e-6 * std::sqrt(static_cast<double>(in) + 1) * 10;
      for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(actual[i], expected[i], tolerance) << isa;
    });
  }
}

TEST_P(SelectedProductTest, IsBatchInvariant) {
  on_every_isa([&](const std::string& isa) {
    const std::vector<float> floats = run_float(0, kRows, true), whole_numbers = run_int8(0, kRows, true);
    for (int64_t row = 0; row < kRows; ++row) {
      const auto begin = static_cast<std::ptrdiff_t>(row * static_cast<int64_t>(outputs.size()));
      const auto end = begin + static_cast<std::ptrdiff_t>(outputs.size());
      EXPECT_EQ(run_float(row, 1, true), std::vector(floats.begin() + begin, floats.begin() + end)) << isa;
      EXPECT_EQ(run_int8(row, 1, true),
                std::vector(whole_numbers.begin() + begin, whole_numbers.begin() + end))
          << isa;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Widths, SelectedProductTest,
                         testing::Values(1, 3, 15, 16, 31, 64, 65, 100, 256, 300));

TEST(SelectedProduct, OfNoOutputsIsNothing) {
  const std::vector<float> x = normal<float>(4, 1), weight = normal<float>(8, 2);
  selected_product(SelectedProductArguments{.rows = 1, .in = 4, .x = x.data(), .weight = weight.data()});
}

TEST(SelectedProduct, NanStaysNan) {
  std::vector<float> x{1, std::nanf(""), 2, 3}, y(1);
  const std::vector<int8_t> values{1, 2, 3, 4};
  const float scale = 1;
  const int32_t output = 0;
  selected_product(Int8SelectedProductArguments{.rows = 1,
                                                .in = 4,
                                                .count = 1,
                                                .x = x.data(),
                                                .outputs = &output,
                                                .weight = values.data(),
                                                .scales = &scale,
                                                .y = y.data()});
  EXPECT_TRUE(std::isnan(y[0]));
}

}  // namespace
}  // namespace heed
