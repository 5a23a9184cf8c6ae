#include "kernels/gemm/packed/packed_int8.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "kernels/gemm/blocking.h"
#include "kernels/gemm/packed/packed_matrix.h"
#include "kernels/simd/test_isas.h"

namespace heed {
namespace {

constexpr float kInt8Guard = 12345;

std::vector<float> normal_values(int64_t size, Random& random) {
  std::vector<float> values(static_cast<size_t>(size));
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

/// A quantised layer and its input.
struct Int8Layer {
  Int8Layer(int64_t rows_of_x, int64_t outputs, int64_t inputs, uint64_t seed, bool with_bias = true)
      : rows(rows_of_x), out(outputs), in(inputs) {
    Random random(RandomKey::from_seed(seed));
    x = normal_values(rows * in, random);
    weight = normal_values(out * in, random);
    values.resize(weight.size());
    scales.resize(static_cast<size_t>(out));
    if (with_bias) bias = normal_values(out, random);
    quantize();
  }
  void quantize() {
    quantize_weights(
        {.rows = out, .columns = in, .x = weight.data(), .values = values.data(), .scales = scales.data()});
  }
  /// The product with packed weights. The first ones of few rows come before packing, with the same bits.
  std::vector<float> run(std::optional<Activation> function = {}) const {
    constexpr int kUntilPacked = 20;
    const PackedMatrix packed(values.data(), scales.data(), out, in, bias.empty() ? nullptr : bias.data());
    const std::vector<float> first = multiply(packed, function);
    for (int call = 2; rows <= 8 && call < kUntilPacked; ++call) multiply(packed, function);
    std::vector<float> y = multiply(packed, function);
    for (size_t i = 0; i < y.size(); ++i) {
      const bool are_nan = std::isnan(y[i]) && std::isnan(first[i]);
      if (!are_nan && std::bit_cast<uint32_t>(y[i]) != std::bit_cast<uint32_t>(first[i])) {
        ADD_FAILURE() << "before packing " << first[i] << ", then " << y[i] << " at " << i;
        break;
      }
    }
    return y;
  }
  std::vector<float> multiply(const PackedMatrix& packed, std::optional<Activation> function) const {
    std::vector<float> y(static_cast<size_t>(rows * out + 1), kInt8Guard);
    function ? packed.multiply(x.data(), rows, *function, y.data())
             : packed.multiply(x.data(), rows, y.data());
    EXPECT_EQ(y.back(), kInt8Guard) << "written behind the end";
    y.pop_back();
    return y;
  }

  int64_t rows, out, in;
  std::vector<float> x, weight, bias, scales;
  std::vector<int8_t> values;
};

/// A row quantized: x ~ scale (numbers - zero_point). Numbers of outliers are beyond 0 to 127.
struct PlainRow {
  float scale;
  int32_t zero_point;
  std::vector<int32_t> numbers;
  int64_t outliers = 0;
};

/// What the elements of a row may not exceed (docs/adr/0033); infinity where it has no outliers.
float plain_threshold(const float* x, int64_t in, float below, float above) {
  constexpr float kNone = std::numeric_limits<float>::infinity();
  if (in < 128) return kNone;
  float squares[16] = {};
  for (int64_t i = 0; i < in; ++i) {
    volatile float square = x[i] * x[i];  // rounded before it is added
    squares[i % 16] += square;
  }
  float least[2] = {squares[0], squares[1]};
  for (int n = 2; n < 16; ++n) least[n % 2] = std::min(least[n % 2], squares[n]);
  const float part = std::max(least[0], least[1]), width = below / 2 + above / 2;
  const float side = std::min(below, above), size = static_cast<float>(in);
  if (!(width * width * size > 7 * 7 * 16 * part && side * side * size > 2 * 2 * 16 * part)) return kNone;
  const float ordinary = std::sqrt(part * (16 / size));
  const float threshold = std::max(4 * ordinary, std::max(below, above) * (1.0f / 120));
  std::vector<float> sizes;
  for (int64_t i = 0; i < in; ++i) sizes.push_back(std::abs(x[i]));
  std::sort(sizes.rbegin(), sizes.rend());
  return std::max(threshold, sizes[16]);
}

PlainRow plain_quantize(const float* x, int64_t in) {
  float below = 0, above = 0;
  for (int64_t i = 0; i < in; ++i) {
    below = std::max(below, -x[i]);
    above = std::max(above, x[i]);
  }
  const float threshold = plain_threshold(x, in, below, above);
  below = std::min(below, threshold);
  above = std::min(above, threshold);
  const float scale = (below / 2 + above / 2) * (2.0f / 127), factor = scale > 0 ? 1 / scale : 0;
  PlainRow row{scale, static_cast<int32_t>(std::nearbyint(below * factor)), {}};
  for (int64_t i = 0; i < in; ++i) {
    const bool outlier = std::abs(x[i]) > threshold;
    const int32_t number = static_cast<int32_t>(std::nearbyint(x[i] * factor)) + row.zero_point;
    row.numbers.push_back(outlier ? number : std::min(number, 127));
    row.outliers += outlier ? 1 : 0;
    EXPECT_TRUE(outlier || number >= 0);
  }
  return row;
}

/// The formula of the header, in loops over single numbers.
std::vector<float> plain_product(const Int8Layer& l) {
  std::vector<float> y;
  for (int64_t r = 0; r < l.rows; ++r) {
    const PlainRow row = plain_quantize(l.x.data() + r * l.in, l.in);
    for (int64_t o = 0; o < l.out; ++o) {
      int32_t sum = 0;
      for (int64_t i = 0; i < l.in; ++i) sum += (row.numbers[i] - row.zero_point) * l.values[o * l.in + i];
      const float scale = row.scale * l.scales[o];
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

const std::vector<int64_t> kInt8Sizes{1, 2, 3, 4, 5, 7, 15, 16, 17, 63, 64, 65, 127, 130};

TEST(PackedInt8, IsBitwiseEqualOnEveryInstructionSet) {
  for (const int64_t out : kInt8Sizes) {
    for (const int64_t in : kInt8Sizes) {
      const Int8Layer layer(7, out, in, static_cast<uint64_t>(out * 1000 + in), out % 2 == 0);
      const std::vector<float> expected = plain_product(layer);
      on_every_isa([&](const std::string& isa) {
        expect_same_bits(layer.run(), expected,
                         isa + " with " + std::to_string(out) + " x " + std::to_string(in));
      });
    }
  }
}

TEST(PackedInt8, IsBitwiseEqualForRandomShapes) {
  Random random(RandomKey::from_seed(5));
  for (int n = 0; n < 60; ++n) {
    const auto rows = static_cast<int64_t>(random.below(n % 10 == 0 ? 250 : 20));
    const auto out = static_cast<int64_t>(1 + random.below(200)),
               any = static_cast<int64_t>(random.below(300));
    const int64_t in = n % 2 == 0 ? any : any / 64 * 64;
    const Int8Layer layer(rows, out, in, static_cast<uint64_t>(n), n % 3 != 0);
    const std::vector<float> expected = plain_product(layer);
    on_every_isa([&](const std::string& isa) {
      expect_same_bits(layer.run(), expected,
                       isa + " with " + std::to_string(rows) + " rows, " + std::to_string(out) + " x " +
                           std::to_string(in));
    });
  }
}

// K of whole AMX tiles, and rows that are not.
TEST(PackedInt8, IsBitwiseEqualForWholeAmxTiles) {
  for (const int64_t rows : {1, 15, 16, 17, 31, 32, 33, 64, 95, 97, 130}) {
    for (const int64_t out : {1, 16, 33, 64, 65, 130}) {
      for (const int64_t in : {64, 192, 1024}) {
        const Int8Layer layer(rows, out, in, static_cast<uint64_t>(rows * 1000 + out), out % 2 == 0);
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

// Several blocks of rows (MC) and of inputs (KC).
TEST(PackedInt8, IsBitwiseEqualForBlocksOfAmx) {
  for (const auto& [rows, in] : {std::pair<int64_t, int64_t>{300, 640}, {290, 2112}, {2, 1024}, {3, 1024}}) {
    Int8Layer layer(rows, 70, in, static_cast<uint64_t>(in));
    layer.x[5] = 60;  // an outlier
    const std::vector<float> expected = plain_product(layer);
    const std::string shape = fmt::format(" with {} rows of {}", rows, in);
    on_every_isa([&](const std::string& isa) { expect_same_bits(layer.run(), expected, isa + shape); });
  }
}

TEST(PackedInt8, AppliesActivations) {
  const auto gelu = [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); };
  for (const int64_t in : {20, 64}) {
    Int8Layer layer(70, 70, in, 7);
    for (float& weight : layer.weight) weight /= std::sqrt(static_cast<float>(in)) / 3;  // results up to 12
    layer.quantize();
    layer.bias[3] = 1e30f;
    layer.bias[4] = -1e30f;
    layer.x[2 * in] = std::numeric_limits<float>::quiet_NaN();
    on_every_isa([&](const std::string& isa) {
      const std::vector<float> plain = layer.run(), relu = layer.run(Activation::kRelu),
                               coarse = layer.run(Activation::kGelu), swish = layer.run(Activation::kSwish);
      std::vector<float> expected_swish = plain;
      activate(ActivationArguments<float>{.function = Activation::kSwish,
                                          .size = static_cast<int64_t>(plain.size()),
                                          .x = plain.data(),
                                          .y = expected_swish.data()});
      for (size_t i = 0; i < plain.size(); ++i) {
        const bool is_nan = static_cast<int64_t>(i) / layer.out == 2;
        ASSERT_EQ(std::isnan(coarse[i]), is_nan) << isa << " at " << i;
        if (is_nan) continue;
        ASSERT_EQ(relu[i], std::max(plain[i], 0.0f)) << isa << " at " << i;
        ASSERT_EQ(swish[i], expected_swish[i]) << isa << " at " << i;
        const double x = plain[i], bound = std::max(5.5e-5, 1e-5 * x);
        ASSERT_NEAR(coarse[i], gelu(x), bound) << isa << " of " << x;
      }
    });
  }
}

// All products as large as they get, of one sign: what saturating instructions get wrong.
TEST(PackedInt8, DoesNotSaturate) {
  Int8Layer layer(3, 65, 4096, 1);
  for (const float x : {2.0f, -2.0f}) {
    std::fill(layer.x.begin(), layer.x.end(), x);
    for (const float weight : {1.0f, -1.0f}) {
      std::fill(layer.weight.begin(), layer.weight.end(), weight);
      layer.quantize();
      const std::vector<float> expected = plain_product(layer);
      // 127 * 127 * 4096 is not a float32 number; it and its scale are rounded.
      ASSERT_NEAR(expected[0], x * weight * 4096 + layer.bias[0], 0.5);
      on_every_isa([&](const std::string& isa) { expect_same_bits(layer.run(), expected, isa); });
    }
  }
}

// The largest and smallest activations and weights in random order: the sums of two and of four products
// take their extreme values, and many of those of four do not fit 16 bits.
TEST(PackedInt8, DoesNotSaturateForExtremeNumbers) {
  Random random(RandomKey::from_seed(11));
  for (const int64_t rows : {1, 12, 13, 97}) {
    for (const int64_t in : {8, 20, 64, 520, 1032}) {
      Int8Layer layer(rows, 70, in, 12);
      const float sizes[] = {-1, 0, 1, 1};
      for (float& x : layer.x) x = sizes[random.below(4)];
      const int8_t weights[] = {-127, 127, 127, 64, 65, 1};
      for (int8_t& w : layer.values) w = weights[random.below(6)];
      const std::vector<float> expected = plain_product(layer);
      on_every_isa([&](const std::string& isa) {
        expect_same_bits(layer.run(), expected,
                         isa + " with " + std::to_string(rows) + " rows of " + std::to_string(in));
      });
    }
  }
}

/// A packed matrix with one output.
struct Packed {
  explicit Packed(const std::vector<int8_t>& weights) {
    const auto in = static_cast<int64_t>(weights.size());
    const Int8PanelSizes sizes = int8_panel_sizes(1, in);
    panels.resize(static_cast<size_t>(sizes.panels));
    wide.resize(static_cast<size_t>(sizes.wide));
    sums.resize(static_cast<size_t>(padded_n(1)));
    pack_b_int8(weights.data(), 1, in, {panels.data(), sums.data(), wide.data()});
  }
  std::vector<int8_t> panels;
  std::vector<uint8_t> wide;
  std::vector<int32_t> sums;
};

// Lane 0 adds the products of inputs 0, 1, 4 and 5, lane 1 those of 2, 3, 6 and 7. 127 * 258 = 32,766.
TEST(PackPanels, MarksStepsWhoseSumsMayOverflow16Bits) {
  EXPECT_EQ(Packed({127, 127, 0, 0, 4, 0, 0, 0}).wide[0], 0);
  EXPECT_EQ(Packed({127, 127, 0, 0, 4, 1, 0, 0}).wide[0], 1);
  EXPECT_EQ(Packed({-127, -127, 0, 0, -4, 0, 0, 0}).wide[0], 0);
  EXPECT_EQ(Packed({-127, -127, 0, 0, -4, -1, 0, 0}).wide[0], 1);
  EXPECT_EQ(Packed({0, 0, 127, 127, 0, 0, 127, 0}).wide[0], 1);
  EXPECT_EQ(Packed({127, 127, 127, 127, 0, 0, 0, 0}).wide[0], 0) << "lanes are apart";
  EXPECT_EQ(Packed({127, 127, 0, 0, -127, -127, 0, 0}).wide[0], 0) << "signs are apart";
  EXPECT_EQ(Packed({0, 0, 0, 0, 0, 0, 0, 0, 127, 127, 0, 0, 127}).wide, (std::vector<uint8_t>{0, 1}));
}

// The marks are needed: without them, instruction sets that add in 16 bits give another sum.
TEST(PackPanels, UnmarkedStepsOverflow) {
  const std::vector<int8_t> weights(8, 127);
  const std::vector<float> x(8, 1), scales(static_cast<size_t>(padded_n(1)), 1);
  Packed packed(weights);
  const auto run = [&] {
    float y = 0;
    multiply_packed_int8({.rows = 1,
                          .out = 1,
                          .in = 8,
                          .x = x.data(),
                          .panels = packed.panels.data(),
                          .wide = packed.wide.data(),
                          .sums = packed.sums.data(),
                          .scales = scales.data(),
                          .y = &y});
    return y;
  };
  on_every_isa([&](const std::string& isa) {
    packed.wide[0] = 1;
    const float exact = run();
    EXPECT_NEAR(exact, 8 * 127, 1e-3) << isa;
    packed.wide[0] = 0;
    if (isa == "sse4" || isa == "avx2" || isa == "avx512") {
      EXPECT_LT(run(), exact) << isa;
    } else {
      EXPECT_EQ(run(), exact) << isa;
    }
  });
}

// Each number is off by half a step of its scale at most, a weight also by what rounding its scale up makes
// of it: |q s_r - x| <= s_r / 2 and |w s_o - W| <= s_o / 2. So a sum of n products is off by at most
// sum |W| s_r / 2 + sum |x| s_o / 2 + n s_r s_o / 4, and by rounding in float32.
TEST(PackedInt8, IsWithinTheQuantizationErrorOfTheFloatProduct) {
  for (const auto& [rows, out, in] :
       {std::tuple<int64_t, int64_t, int64_t>{5, 33, 64}, {3, 64, 257}, {1, 5, 1024}}) {
    const Int8Layer layer(rows, out, in, 3);
    const std::vector<float> y = layer.run();
    double largest_share = 0;
    for (int64_t r = 0; r < rows; ++r) {
      double below = 0, above = 0, sum_x = 0;
      for (int64_t i = 0; i < in; ++i) {
        const double x = layer.x[r * in + i];
        below = std::max(below, -x);
        above = std::max(above, x);
        sum_x += std::abs(x);
      }
      const double s_r = (below + above) / 127;
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

TEST(PackedInt8, IsBatchInvariant) {
  const Int8Layer all(200, 70, 96, 4);
  const std::vector<float> together = all.run();
  for (const int64_t row : {0, 1, 95, 96, 97, 199}) {
    Int8Layer alone = all;
    alone.rows = 1;
    alone.x.assign(all.x.begin() + row * all.in, all.x.begin() + (row + 1) * all.in);
    expect_same_bits(alone.run(), {together.begin() + row * all.out, together.begin() + (row + 1) * all.out},
                     "row " + std::to_string(row));
  }
}

TEST(PackedInt8, NanStaysInItsRow) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    Int8Layer layer(3, 20, 40, 6);
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

// ---- Outliers ---------------------------------------------------------------------------------------------

/// Makes elements of a row large: `count` of them, from 20 to 200 times as large, of both signs, the last
/// element among them.
void add_outliers(Int8Layer& layer, int64_t row, int64_t count, Random& random) {
  float* const x = layer.x.data() + row * layer.in;
  for (int64_t n = 0; n < count; ++n) {
    const int64_t k = n == 0 ? layer.in - 1 : static_cast<int64_t>(random.below(layer.in));
    x[k] = static_cast<float>((n % 3 == 0 ? -1 : 1) * (20 + static_cast<int64_t>(random.below(180))));
  }
}

/// Rows with 0, 1, 2, 5, 12, 30 and 100 outliers, in turns.
Int8Layer layer_with_outliers(int64_t rows, int64_t out, int64_t in, uint64_t seed) {
  constexpr int64_t kCounts[] = {0, 1, 2, 5, 12, 30, 100};
  Int8Layer layer(rows, out, in, seed, out % 2 == 0);
  Random random(RandomKey::from_seed(seed + 1));
  for (int64_t row = 0; row < rows; ++row) add_outliers(layer, row, kCounts[row % 7], random);
  return layer;
}

int64_t rows_with_outliers(const Int8Layer& layer) {
  int64_t rows = 0;
  for (int64_t row = 0; row < layer.rows; ++row) {
    const int64_t outliers = plain_quantize(layer.x.data() + row * layer.in, layer.in).outliers;
    EXPECT_LE(outliers, 16);
    rows += outliers > 0 ? 1 : 0;
  }
  return rows;
}

TEST(PackedInt8Outliers, AreBitwiseEqualOnEveryInstructionSet) {
  for (const int64_t rows : {7, 13, 97}) {
    for (const int64_t out : {1, 63, 130}) {
      for (const int64_t in : {127, 128, 131, 192, 576, 1029}) {
        const Int8Layer layer = layer_with_outliers(rows, out, in, static_cast<uint64_t>(out * 2000 + in));
        const std::vector<float> expected = plain_product(layer);
        EXPECT_GE(rows_with_outliers(layer), in == 127 ? 0 : rows / 2) << rows << " rows of " << in;
        on_every_isa([&](const std::string& isa) {
          expect_same_bits(layer.run(), expected,
                           isa + " with " + std::to_string(rows) + " rows, " + std::to_string(out) + " x " +
                               std::to_string(in));
        });
      }
    }
  }
}

// Equal sizes at the limit of their number: all of them are ordinary, or none.
TEST(PackedInt8Outliers, OfEqualSizeBeyondTheirNumberAreOrdinary) {
  for (const int64_t count : {16, 17}) {
    Int8Layer layer(1, 70, 300, 21);
    for (int64_t n = 0; n < count; ++n) layer.x[n * 16 + n % 3] = n % 2 == 0 ? 50.0f : -50.0f;
    EXPECT_EQ(plain_quantize(layer.x.data(), layer.in).outliers, count == 16 ? 16 : 0);
    const std::vector<float> expected = plain_product(layer);
    on_every_isa([&](const std::string& isa) { expect_same_bits(layer.run(), expected, isa); });
  }
}

TEST(PackedInt8Outliers, AreBatchInvariant) {
  const Int8Layer all = layer_with_outliers(200, 70, 320, 22);
  const std::vector<float> together = all.run();
  for (const int64_t row : {0, 1, 4, 95, 96, 97, 199}) {
    Int8Layer alone = all;
    alone.rows = 1;
    alone.x.assign(all.x.begin() + row * all.in, all.x.begin() + (row + 1) * all.in);
    expect_same_bits(alone.run(), {together.begin() + row * all.out, together.begin() + (row + 1) * all.out},
                     "row " + std::to_string(row));
  }
}

// Outliers of a row leave the precision of the others as it is. They themselves are rounded to the same step.
TEST(PackedInt8Outliers, CostOtherElementsNoPrecision) {
  const auto error = [](const Int8Layer& layer) {
    const std::vector<float> y = layer.run();
    double squares = 0;
    for (int64_t o = 0; o < layer.out; ++o) {
      double exact = 0;
      for (int64_t i = 0; i < layer.in; ++i) {
        exact += static_cast<double>(layer.x[i]) * layer.scales[o] * layer.values[o * layer.in + i];
      }
      squares += (y[o] - exact) * (y[o] - exact);
    }
    return std::sqrt(squares / static_cast<double>(layer.out));
  };
  Int8Layer layer(1, 64, 256, 23, false);
  const double ordinary = error(layer);
  Random random(RandomKey::from_seed(24));
  add_outliers(layer, 0, 10, random);
  EXPECT_LT(error(layer), 2 * ordinary);
  // Too short for outliers, the same numbers lose their precision.
  Int8Layer low = layer;
  low.in = 127;
  low.x.resize(127);
  low.x[5] = 200;
  low.values.resize(static_cast<size_t>(low.out * low.in));
  EXPECT_GT(error(low), 5 * ordinary);
}

// Outputs of a ReLU have a wide range, and zeros that stay exact.
TEST(PackedInt8Outliers, RowsOnOneSideOfZeroHaveNone) {
  Int8Layer layer(1, 64, 256, 25);
  for (float& x : layer.x) x = std::max(0.0f, x - 1);
  layer.x[17] = 60;
  EXPECT_EQ(plain_quantize(layer.x.data(), layer.in).outliers, 0);
  const std::vector<float> expected = plain_product(layer);
  on_every_isa([&](const std::string& isa) { expect_same_bits(layer.run(), expected, isa); });
  layer.x[18] = -60;
  EXPECT_GT(plain_quantize(layer.x.data(), layer.in).outliers, 0);
}

// Squares that overflow and that vanish, and a size ratio beyond the 15 bits of an outlier.
TEST(PackedInt8Outliers, MayHaveAnySize) {
  for (const float size : {1e-35f, 1e-20f, 1e15f, 1e25f, 1e36f}) {
    for (const float ratio : {30.0f, 1e5f, 1e30f}) {
      Int8Layer layer(1, 20, 160, 26, false);
      for (float& x : layer.x) x *= size / ratio;
      layer.x[3] = size;
      layer.x[4] = -size;
      const std::vector<float> expected = plain_product(layer);
      on_every_isa([&](const std::string& isa) {
        const std::vector<float> y = layer.run();
        for (const float value : y) EXPECT_TRUE(std::isfinite(value)) << isa;
        if (size > 1e-30f) {
          expect_same_bits(y, expected, isa + ": " + std::to_string(size) + " and " + std::to_string(ratio));
        }
      });
    }
  }
}

TEST(PackedInt8Outliers, NanMakesTheirRowNan) {
  Int8Layer layer(2, 20, 160, 27);
  layer.x[3] = 100;
  layer.x[4] = -100;
  const std::vector<float> good = layer.run();
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    layer.x[160 + 7] = bad;
    on_every_isa([&](const std::string& isa) {
      const std::vector<float> y = layer.run();
      for (int64_t o = 0; o < 20; ++o) {
        EXPECT_EQ(y[o], good[o]) << isa;
        EXPECT_TRUE(std::isnan(y[20 + o])) << isa;
      }
    });
  }
}

// Zeros stay zeros, and rows without negative numbers use all 7 bits: half a step of 1 / 127 is kept.
TEST(PackedInt8, ActivationsHaveAStepOfTheirRangeByOneHundredTwentySeven) {
  Int8Layer layer(3, 1, 4, 13, false);
  layer.values = {127, 0, 0, 0};
  layer.scales = {1.0f / 127};
  layer.x = {0.5f * 127 / 127, 127, 0, 3, /**/ 0, 50, -77, 3, /**/ 2, 254, -254, 3};
  on_every_isa([&](const std::string& isa) {
    const std::vector<float> y = layer.run();
    EXPECT_NEAR(y[0], 0, 1e-6) << isa << ": half a step is rounded to even";
    EXPECT_EQ(y[1], 0) << isa;
    EXPECT_NEAR(y[2], 0, 1e-6) << isa << ": the step is 4";
  });
  layer.x[0] = 0.51f;
  on_every_isa([&](const std::string& isa) { EXPECT_NEAR(layer.run()[0], 1, 1e-5) << isa; });
}

TEST(PackedInt8, AcceptsTheLargestNumbers) {
  Int8Layer layer(1, 1, 2, 14, false);
  constexpr float kLargest = std::numeric_limits<float>::max();
  layer.values = {127, 127};
  layer.scales = {1.0f / 1024};
  layer.x = {kLargest, -kLargest};
  on_every_isa([&](const std::string& isa) {
    EXPECT_LE(std::abs(layer.run()[0]), kLargest / 127) << isa << ": a step at most, of two opposite numbers";
  });
}

TEST(PackedInt8, RowsOfZerosGiveTheBias) {
  Int8Layer layer(2, 5, 9, 7);
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
  const std::vector<float> weight = normal_values(5 * 77, random);
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
  std::vector<float> weight = normal_values(64 * 31, random);
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
