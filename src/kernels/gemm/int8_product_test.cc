#include "kernels/gemm/int8_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/rng.h"
#include "heed/error.h"
#include "kernels/gemm/packed_matrix.h"
#include "kernels/simd/test_isas.h"

namespace heed {
namespace {

constexpr float kGuard = 12345;

std::vector<float> normal(int64_t size, Random& random) {
  std::vector<float> values(static_cast<size_t>(size));
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

/// A quantised layer and its input.
struct Layer {
  Layer(int64_t rows_of_x, int64_t outputs, int64_t inputs, uint64_t seed, bool with_bias = true)
      : rows(rows_of_x), out(outputs), in(inputs) {
    Random random(RandomKey::from_seed(seed));
    x = normal(rows * in, random);
    weight = normal(out * in, random);
    values.resize(weight.size());
    scales.resize(static_cast<size_t>(out));
    if (with_bias) bias = normal(out, random);
    quantize();
  }
  void quantize() {
    quantize_weights(
        {.rows = out, .columns = in, .x = weight.data(), .values = values.data(), .scales = scales.data()});
  }
  std::vector<float> run() const {
    const PackedMatrix packed(values.data(), scales.data(), out, in, bias.empty() ? nullptr : bias.data());
    std::vector<float> y(static_cast<size_t>(rows * out + 1), kGuard);
    packed.multiply(x.data(), rows, y.data());
    EXPECT_EQ(y.back(), kGuard) << "written behind the end";
    y.pop_back();
    return y;
  }

  int64_t rows, out, in;
  std::vector<float> x, weight, bias, scales;
  std::vector<int8_t> values;
};

/// As the formula of the header says it, in loops over single numbers.
std::vector<float> plain_product(const Layer& l) {
  std::vector<float> y;
  for (int64_t r = 0; r < l.rows; ++r) {
    float most = 0;
    for (int64_t i = 0; i < l.in; ++i) most = std::max(most, std::abs(l.x[r * l.in + i]));
    for (int64_t o = 0; o < l.out; ++o) {
      int32_t sum = 0;
      for (int64_t i = 0; i < l.in && most > 0; ++i) {
        const float q = std::nearbyint(l.x[r * l.in + i] * (127 / most));
        sum += static_cast<int32_t>(q) * l.values[o * l.in + i];
      }
      const float scale = most / 127 * l.scales[o];
      volatile float product = static_cast<float>(sum) * scale;  // rounded before anything is added
      y.push_back(l.bias.empty() ? product : product + l.bias[o]);
    }
  }
  return y;
}

void expect_same_bits(const std::vector<float>& actual, const std::vector<float>& expected,
                      const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size());
  int64_t different = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    different += std::bit_cast<uint32_t>(actual[i]) != std::bit_cast<uint32_t>(expected[i]) ? 1 : 0;
  }
  EXPECT_EQ(different, 0) << what;
}

const std::vector<int64_t> kSizes{1, 2, 3, 4, 5, 7, 15, 16, 17, 63, 64, 65, 127, 130};

TEST(Int8Product, IsTheSameToTheLastBitOnEveryInstructionSet) {
  for (const int64_t out : kSizes) {
    for (const int64_t in : kSizes) {
      const Layer layer(7, out, in, static_cast<uint64_t>(out * 1000 + in), out % 2 == 0);
      const std::vector<float> expected = plain_product(layer);
      on_every_isa([&](const std::string& isa) {
        expect_same_bits(layer.run(), expected,
                         isa + " with " + std::to_string(out) + " x " + std::to_string(in));
      });
    }
  }
}

TEST(Int8Product, IsTheSameForRandomShapes) {
  Random random(RandomKey::from_seed(5));
  for (int n = 0; n < 60; ++n) {
    const auto rows = static_cast<int64_t>(random.below(n % 10 == 0 ? 250 : 20));
    const auto out = static_cast<int64_t>(1 + random.below(200)),
               any = static_cast<int64_t>(random.below(300));
    const int64_t in = n % 2 == 0 ? any : any / 64 * 64;
    const Layer layer(rows, out, in, static_cast<uint64_t>(n), n % 3 != 0);
    const std::vector<float> expected = plain_product(layer);
    on_every_isa([&](const std::string& isa) {
      expect_same_bits(layer.run(), expected,
                       isa + " with " + std::to_string(rows) + " rows, " + std::to_string(out) + " x " +
                           std::to_string(in));
    });
  }
}

// Inputs that fill whole matrix registers, and rows that do not.
TEST(Int8Product, IsTheSameForWholeRegistersOfInputs) {
  for (const int64_t rows : {1, 15, 16, 17, 31, 32, 33, 64, 95, 97, 130}) {
    for (const int64_t out : {1, 16, 33, 64, 65, 130}) {
      for (const int64_t in : {64, 192, 1024}) {
        const Layer layer(rows, out, in, static_cast<uint64_t>(rows * 1000 + out), out % 2 == 0);
        const std::vector<float> expected = plain_product(layer);
        on_every_isa([&](const std::string& isa) {
          expect_same_bits(layer.run(), expected,
                           isa + " with " + std::to_string(rows) + " rows, " + std::to_string(out) + " x " +
                               std::to_string(in));
        });
      }
    }
  }
}

// All products as large as they get, of one sign: what saturating instructions get wrong.
TEST(Int8Product, DoesNotCutOffLargeSums) {
  Layer layer(3, 65, 4096, 1);
  std::fill(layer.x.begin(), layer.x.end(), 2.0f);
  for (const float sign : {1.0f, -1.0f}) {
    std::fill(layer.weight.begin(), layer.weight.end(), sign);
    layer.quantize();
    on_every_isa([&](const std::string& isa) {
      const std::vector<float> y = layer.run();
      // 127 * 127 * 4096 is no float32; it, and its scale, are rounded.
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_NEAR(y[i], sign * 8192 + layer.bias[i % 65], 0.5) << isa;
      }
    });
  }
}

// Each number is off by half a step of its scale at most, a weight also by what rounding its scale up makes
// of it: |q s_r - x| <= s_r / 2 and |w s_o - W| <= s_o / 2. So a sum of n products is off by at most
// sum |W| s_r / 2 + sum |x| s_o / 2 + n s_r s_o / 4, and by rounding in float32.
TEST(Int8Product, IsAsNearToTheFloatProductAsItsStepsAllow) {
  for (const auto& [rows, out, in] :
       {std::tuple<int64_t, int64_t, int64_t>{5, 33, 64}, {3, 64, 257}, {1, 5, 1024}}) {
    const Layer layer(rows, out, in, 3);
    const std::vector<float> y = layer.run();
    double largest_share = 0;
    for (int64_t r = 0; r < rows; ++r) {
      double most = 0, sum_x = 0;
      for (int64_t i = 0; i < in; ++i) {
        const double size = std::abs(layer.x[r * in + i]);
        most = std::max(most, size);
        sum_x += size;
      }
      const double s_r = most / 127;
      for (int64_t o = 0; o < out; ++o) {
        const double s_o = layer.scales[o];
        double expected = layer.bias[o], sum_w = 0;
        for (int64_t i = 0; i < in; ++i) {
          const double w = layer.weight[o * in + i];
          expected += layer.x[r * in + i] * w;
          sum_w += std::abs(w);
        }
        const double bound = sum_w * s_r / 2 + sum_x * s_o / 2 + static_cast<double>(in) * s_r * s_o / 4 +
                             8 * std::numeric_limits<float>::epsilon() * (std::abs(expected) + 1);
        const double difference = std::abs(y[r * out + o] - expected);
        ASSERT_LE(difference, bound);
        largest_share = std::max(largest_share, difference / bound);
      }
    }
    EXPECT_GT(largest_share, 1e-3) << "the bound says nothing: it is far from what happens";
  }
}

TEST(Int8Product, ARowIsTheSameInAnyCompany) {
  const Layer all(200, 70, 96, 4);
  const std::vector<float> together = all.run();
  for (const int64_t row : {0, 1, 95, 96, 97, 199}) {
    Layer alone = all;
    alone.rows = 1;
    alone.x.assign(all.x.begin() + row * all.in, all.x.begin() + (row + 1) * all.in);
    expect_same_bits(alone.run(), {together.begin() + row * all.out, together.begin() + (row + 1) * all.out},
                     "row " + std::to_string(row));
  }
}

TEST(Int8Product, KeepsWhatIsNoNumberInItsRow) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    Layer layer(3, 20, 40, 6);
    const std::vector<float> good = layer.run();
    layer.x[40 + 17] = bad;
    on_every_isa([&](const std::string& isa) {
      const std::vector<float> y = layer.run();
      for (int64_t o = 0; o < 20; ++o) {
        EXPECT_EQ(y[o], good[o]) << isa;
        EXPECT_TRUE(std::isnan(y[20 + o])) << isa;
        EXPECT_EQ(y[40 + o], good[40 + o]) << isa;
      }
    });
  }
}

TEST(Int8Product, RowsOfZerosGiveTheBias) {
  Layer layer(2, 5, 9, 7);
  std::fill(layer.x.begin(), layer.x.begin() + 9, 0.0f);
  std::fill(layer.weight.begin(), layer.weight.begin() + 9, 0.0f);
  layer.quantize();
  EXPECT_EQ(layer.scales[0], 0);
  on_every_isa([&](const std::string& isa) {
    const std::vector<float> y = layer.run();
    for (int64_t o = 0; o < 5; ++o) EXPECT_EQ(y[o], layer.bias[o]) << isa;
    EXPECT_EQ(y[5], layer.bias[0]) << isa;
    EXPECT_NE(y[6], layer.bias[1]) << isa;
  });
}

TEST(QuantizeWeights, RoundsToTheNearestStepAndUsesAllOfThem) {
  Random random(RandomKey::from_seed(8));
  const std::vector<float> weight = normal(5 * 77, random);
  on_every_isa([&](const std::string& isa) {
    std::vector<int8_t> values(weight.size());
    std::vector<float> scales(5);
    quantize_weights(
        {.rows = 5, .columns = 77, .x = weight.data(), .values = values.data(), .scales = scales.data()});
    for (int64_t row = 0; row < 5; ++row) {
      int most = 0;
      for (int64_t i = 0; i < 77; ++i) {
        const float value = values[row * 77 + i];
        most = std::max(most, std::abs(values[row * 77 + i]));
        EXPECT_LE(std::abs(value * scales[row] - weight[row * 77 + i]), scales[row] * 0.50001f) << isa;
      }
      EXPECT_EQ(most, 127) << isa;
    }
  });
}

// What lets a quantised model and a float model that is quantised on its way in be the same.
TEST(QuantizeWeights, ChangesNothingTheSecondTime) {
  Random random(RandomKey::from_seed(9));
  std::vector<float> weight = normal(64 * 31, random);
  for (float& w : weight) w *= std::exp(static_cast<float>(random.normal()));
  std::vector<int8_t> first(weight.size()), second(weight.size());
  std::vector<float> scales(64), scales_again(64);
  quantize_weights(
      {.rows = 64, .columns = 31, .x = weight.data(), .values = first.data(), .scales = scales.data()});
  for (int64_t i = 0; i < 64 * 31; ++i) weight[i] = static_cast<float>(first[i]) * scales[i / 31];
  quantize_weights({.rows = 64,
                    .columns = 31,
                    .x = weight.data(),
                    .values = second.data(),
                    .scales = scales_again.data()});
  EXPECT_EQ(first, second);
  EXPECT_EQ(scales, scales_again);
}

}  // namespace
}  // namespace heed
