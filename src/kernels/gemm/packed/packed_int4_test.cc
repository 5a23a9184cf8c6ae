#include "kernels/gemm/packed/packed_int4.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "kernels/gemm/packed/packed_matrix.h"
#include "kernels/simd/test_isas.h"
#include "tensor/half.h"

namespace heed {
namespace {

std::vector<float> random_floats(int64_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(size));
  for (float& value : values) value = normal(random);
  return values;
}

/// A quantized matrix.
struct Weights {
  Weights(const std::vector<float>& floats, int64_t outputs, int64_t inputs)
      : out(outputs),
        in(inputs),
        values(static_cast<size_t>(out * in / 2)),
        scales(static_cast<size_t>(out * in / kInt4Group)),
        minima(scales.size()) {
    quantize_weights_int4(floats.data(), out, in, rows());
  }
  Int4Rows rows() { return {values.data(), scales.data(), minima.data()}; }
  std::vector<float> floats() {
    std::vector<float> all(static_cast<size_t>(out * in));
    dequantize_int4(rows(), out, in, all.data());
    return all;
  }
  std::vector<float> multiply(const std::vector<float>& x, const std::vector<float>& bias) {
    const int64_t count = static_cast<int64_t>(x.size()) / in;
    std::vector<float> y(static_cast<size_t>(count * out));
    PackedMatrix::in_int4(rows(), out, in, bias.empty() ? nullptr : bias.data())
        .multiply(x.data(), count, y.data());
    return y;
  }

  int64_t out, in;
  std::vector<uint8_t> values;
  std::vector<uint16_t> scales, minima;
};

TEST(Int4Weights, AreWithinHalfAStepOfTheFloatsOrWhatClippingSaves) {
  const std::vector<float> x = random_floats(7 * 96, 1);
  Weights weights(x, 7, 96);
  const std::vector<float> near = weights.floats();
  double squares = 0, squares_of_whole_ranges = 0;
  for (size_t group = 0; group < x.size() / kInt4Group; ++group) {
    const auto* const first = x.data() + group * kInt4Group;
    const auto [low, high] = std::minmax_element(first, first + kInt4Group);
    const float step = (*high - *low) / 15;
    EXPECT_LE(half_to_float(weights.scales[group]), step * 1.001f);
    for (int64_t i = 0; i < kInt4Group; ++i) {
      const float value = near[group * kInt4Group + static_cast<size_t>(i)];
      EXPECT_LE(std::abs(value - first[i]), 0.1f * (*high - *low) + step * 0.51f);
      squares += std::pow(value - first[i], 2);
      squares_of_whole_ranges +=
          std::pow(*low + std::nearbyint((first[i] - *low) / step) * step - first[i], 2);
    }
  }
  EXPECT_LT(squares, squares_of_whole_ranges * 0.98) << "the search for a range gains nothing";
}

TEST(Int4Weights, QuantizedAgainAreTheSame) {
  Weights once(random_floats(64 * 64, 2), 64, 64);
  Weights twice(once.floats(), 64, 64);
  EXPECT_EQ(once.floats(), twice.floats());
}

TEST(Int4Weights, EqualNumbersAndZerosAreExact) {
  std::vector<float> x(2 * kInt4Group, 0.0f);
  std::fill_n(x.begin() + kInt4Group, kInt4Group, -0.375f);
  EXPECT_EQ(Weights(x, 1, 2 * kInt4Group).floats(), x);
}

// The product of the quantized weights with the quantized x, in float64.
std::vector<double> expected(Weights& weights, const std::vector<float>& x) {
  const std::vector<float> w = weights.floats();
  const auto in = static_cast<size_t>(weights.in), out = static_cast<size_t>(weights.out);
  std::vector<double> y(x.size() / in * out);
  for (size_t row = 0; row < x.size() / in; ++row) {
    for (size_t begin = 0; begin < in; begin += kInt4Group) {
      const float* const group = x.data() + row * in + begin;
      float most = 0;
      for (int64_t i = 0; i < kInt4Group; ++i) most = std::max(most, std::abs(group[i]));
      const float scale = most / 127, factor = 1 / scale;
      for (size_t o = 0; o < out; ++o) {
        for (size_t i = 0; i < kInt4Group; ++i) {
          const double rounded = scale == 0 ? 0 : std::nearbyint(group[i] * factor) * scale;
          y[row * out + o] += rounded * w[o * in + begin + i];
        }
      }
    }
  }
  return y;
}

TEST(PackedInt4, AreTheProductsOfTheRoundedNumbersAndTheSameBitsOnEveryIsa) {
  for (const auto& [rows, out, in] :
       {std::tuple<int64_t, int64_t, int64_t>{1, 64, 32}, {3, 70, 96}, {5, 1, 160}, {100, 130, 256}}) {
    Weights weights(random_floats(out * in, 3), out, in);
    std::vector<float> x = random_floats(rows * in, 4);
    x[1] = 40;  // an outlier takes precision from its group alone
    std::fill_n(x.begin(), rows > 1 ? 0 : 1, 0.0f);
    const std::vector<double> wanted = expected(weights, x);
    const std::vector<float> bias = random_floats(out, 5);
    std::vector<float> before;
    on_every_isa([&](const std::string& isa) {
      const std::vector<float> y = weights.multiply(x, bias);
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_NEAR(y[i], wanted[i] + bias[i % bias.size()], 2e-4) << isa << " " << i;
      }
      if (before.empty()) before = y;
      EXPECT_EQ(y, before) << isa;
    });
  }
}

TEST(PackedInt4, TheLargestNumbersFitTheSums) {
  // Every weight is 15 steps above the minimum, every x is +-127 steps.
  constexpr int64_t kIn = 64;
  std::vector<float> w(kIn, 15), x(kIn, 127);
  w[0] = w[32] = 0;
  Weights weights(w, 1, kIn);
  on_every_isa([&](const std::string& isa) {
    EXPECT_EQ(weights.multiply(x, {})[0], 62 * 15 * 127) << isa;
    std::vector<float> negative(kIn, -127);
    EXPECT_EQ(weights.multiply(negative, {})[0], -62 * 15 * 127) << isa;
  });
}

TEST(PackedInt4, IsBatchInvariant) {
  Weights weights(random_floats(70 * 96, 6), 70, 96);
  const std::vector<float> x = random_floats(200 * 96, 7), together = weights.multiply(x, {});
  for (const int64_t row : {0, 1, 95, 96, 199}) {
    const std::vector<float> alone = weights.multiply({x.begin() + row * 96, x.begin() + (row + 1) * 96}, {});
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + row * 70)) << row;
  }
}

TEST(PackedInt4, NanStaysInItsRow) {
  Weights weights(random_floats(20 * 64, 8), 20, 64);
  const std::vector<float> x = random_floats(3 * 64, 9), good = weights.multiply(x, {});
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    std::vector<float> with = x;
    with[64 + 40] = bad;
    on_every_isa([&](const std::string& isa) {
      const std::vector<float> y = weights.multiply(with, {});
      for (size_t o = 0; o < 20; ++o) {
        EXPECT_EQ(y[o], good[o]) << isa;
        EXPECT_TRUE(std::isnan(y[20 + o])) << isa;
        EXPECT_EQ(y[40 + o], good[40 + o]) << isa;
      }
    });
  }
}

}  // namespace
}  // namespace heed
