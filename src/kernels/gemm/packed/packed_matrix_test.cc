#include "kernels/gemm/packed/packed_matrix.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "kernels/simd/test_isas.h"
#include "kernels/simd/test_numbers.h"
#include "tensor/half.h"

namespace heed {
namespace {

constexpr float kFloatGuard = 12345;

/// A layer and its input.
struct FloatLayer {
  FloatLayer(int64_t rows_of_x, int64_t outputs, int64_t inputs, bool with_bias)
      : rows(rows_of_x),
        out(outputs),
        in(inputs),
        x(normal<float>(rows * in, 1)),
        weight(normal<float>(out * in, 2)) {
    if (with_bias) bias = normal<float>(out, 3);
  }
  PackedMatrix packed() const { return {weight.data(), out, in, bias.empty() ? nullptr : bias.data()}; }
  std::vector<float> multiply(int64_t first, int64_t count) const {
    std::vector<float> y(static_cast<size_t>(count * out + 1), kFloatGuard);
    packed().multiply(x.data() + first * in, count, y.data());
    EXPECT_EQ(y.back(), kFloatGuard) << "written behind the end";
    y.pop_back();
    return y;
  }

  int64_t rows, out, in;
  std::vector<float> x, weight, bias;
};

/// y = x W^T + b as the formula says it. A sum of n terms, in whatever order, is off by at most n half units
/// in the last place of the sum of their sizes; and by their square root, nearly always.
void expect_formula(const FloatLayer& l, const std::string& what) {
  const std::vector<float> y = l.multiply(0, l.rows);
  for (int64_t r = 0; r < l.rows; ++r) {
    for (int64_t o = 0; o < l.out; ++o) {
      double sum = l.bias.empty() ? 0 : l.bias[o], size = std::abs(sum);
      for (int64_t i = 0; i < l.in; ++i) {
        const double term =
            static_cast<double>(l.x[r * l.in + i]) * static_cast<double>(l.weight[o * l.in + i]);
        sum += term;
        size += std::abs(term);
      }
      const double tolerance =
          std::sqrt(static_cast<double>(l.in + 2)) * size * std::numeric_limits<float>::epsilon();
      ASSERT_NEAR(y[r * l.out + o], sum, tolerance) << what << " at " << r << ", " << o;
    }
  }
}

std::string name(const std::string& isa, const FloatLayer& l) {
  return fmt::format("{} with {} rows, {} x {}", isa, l.rows, l.out, l.in);
}

TEST(PackedMatrix, IsTheSumOfProducts) {
  // Around whole panels, tiles, and inputs that fit the cache.
  for (const int64_t out : {1, 15, 31, 32, 33, 130}) {
    for (const int64_t in : {0, 1, 5, 255, 256, 257, 600}) {
      for (const int64_t rows : {0, 1, 7, 13}) {
        const FloatLayer layer(rows, out, in, in % 2 == 0);
        on_every_isa([&](const std::string& isa) { expect_formula(layer, name(isa, layer)); });
      }
    }
  }
}

// Around whole AMX tiles, blocks of rows (MC) and of inputs (KC).
TEST(PackedMatrix, IsTheSumOfProductsAroundBlockSizes) {
  for (const int64_t out : {1, 16, 33, 64}) {
    for (const int64_t in : {31, 32, 63, 64, 65, 96, 128}) {
      for (const int64_t rows : {0, 1, 15, 16, 17, 33, 95, 96, 97}) {
        const FloatLayer layer(rows, out, in, out % 2 == 0);
        on_every_isa([&](const std::string& isa) { expect_formula(layer, name(isa, layer)); });
      }
    }
  }
  for (const int64_t in : {383, 384, 385, 768, 769, 1056, 2080}) {
    const FloatLayer layer(33, 65, in, true);
    on_every_isa([&](const std::string& isa) { expect_formula(layer, name(isa, layer)); });
  }
}

TEST(PackedMatrix, IsTheSumOfProductsOfAnyMagnitude) {
  for (const float size : {1e-30f, 1e-10f, 1e10f, 1e30f}) {
    FloatLayer layer(20, 40, 96, false);
    for (float& w : layer.weight) w *= size;
    on_every_isa([&](const std::string& isa) { expect_formula(layer, name(isa, layer)); });
  }
}

// Every int8 slice of every number: y is x with permuted columns.
TEST(PackedMatrix, IsExactForLargeIntegers) {
  constexpr int64_t kSize = 90, kRows = 20, kLargest = 8'300'000;
  FloatLayer layer(kRows, kSize, kSize, false);
  Random random(RandomKey::from_seed(3));
  for (float& x : layer.x)
    x = static_cast<float>(static_cast<int64_t>(random.below(2 * kLargest)) - kLargest);
  std::fill(layer.weight.begin(), layer.weight.end(), 0.0f);
  const auto source = [](int64_t out) { return (out * 7 + 5) % kSize; };
  for (int64_t out = 0; out < kSize; ++out)
    layer.weight[out * kSize + source(out)] = out % 2 == 0 ? 1 : -0.25f;
  on_every_isa([&](const std::string& isa) {
    const std::vector<float> y = layer.multiply(0, kRows);
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t out = 0; out < kSize; ++out) {
        const float x = layer.x[row * kSize + source(out)];
        ASSERT_EQ(y[row * kSize + out], out % 2 == 0 ? x : -0.25f * x) << isa << ": " << row << ", " << out;
      }
    }
  });
}

/// The root mean square error.
double error_of(const FloatLayer& l) {
  const std::vector<float> y = l.multiply(0, l.rows);
  double squares = 0;
  for (int64_t r = 0; r < l.rows; ++r) {
    for (int64_t o = 0; o < l.out; ++o) {
      double sum = 0;
      for (int64_t i = 0; i < l.in; ++i) {
        sum += static_cast<double>(l.x[r * l.in + i]) * static_cast<double>(l.weight[o * l.in + i]);
      }
      squares += (y[r * l.out + o] - sum) * (y[r * l.out + o] - sum);
    }
  }
  return std::sqrt(squares / static_cast<double>(l.rows * l.out));
}

// Numbers of a row share an exponent: the error must be about that of float32 sums, also where a few numbers
// are far larger than the others.
TEST(PackedMatrix, IsAsExactAsSumsOfFloat32) {
  constexpr double kAtMost = 3;
  for (const int64_t in : {64, 256, 512, 2048}) {
    for (const int power : {1, 3, 5}) {
      FloatLayer layer(32, 48, in, false);
      for (float& x : layer.x) x = std::pow(x, static_cast<float>(power));
      std::map<std::string, double> errors;
      on_every_isa([&](const std::string& isa) { errors[isa] = error_of(layer); });
      for (const auto& [isa, error] : errors) {
        EXPECT_LT(error, kAtMost * errors["generic"])
            << isa << ", " << in << " inputs to the power of " << power;
      }
    }
  }
}

TEST(PackedMatrix, NanStaysInItsRow) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    FloatLayer layer(3, 20, 64, true);
    const std::vector<float> good = layer.multiply(0, 3);
    const float before = std::exchange(layer.weight[7 * 64 + 9], bad);
    on_every_isa([&](const std::string& isa) {
      const std::vector<float> y = layer.multiply(0, 3);
      for (int64_t n = 0; n < 60; ++n) EXPECT_EQ(std::isfinite(y[n]), n % 20 != 7) << isa << " at " << n;
    });
    layer.weight[7 * 64 + 9] = before;
    layer.x[64 + 17] = bad;
    on_every_isa([&](const std::string& isa) {
      const std::vector<float> y = layer.multiply(0, 3);
      for (int64_t o = 0; o < 20; ++o) {
        EXPECT_NEAR(y[o], good[o], 1e-5) << isa;
        EXPECT_FALSE(std::isfinite(y[20 + o])) << isa;
        EXPECT_NEAR(y[40 + o], good[40 + o], 1e-5) << isa;
      }
    });
  }
}

TEST(PackedMatrix, IsTheSumOfProductsForRandomShapes) {
  Random random(RandomKey::from_seed(5));
  for (int n = 0; n < 60; ++n) {
    const auto rows = static_cast<int64_t>(random.below(n % 10 == 0 ? 250 : 30));
    const auto out = static_cast<int64_t>(1 + random.below(200)),
               any = static_cast<int64_t>(random.below(400));
    const int64_t in = n % 2 == 0 ? any : any / 64 * 64;
    const FloatLayer layer(rows, out, in, n % 3 != 0);
    on_every_isa([&](const std::string& isa) { expect_formula(layer, name(isa, layer)); });
  }
}

/// The weights of a layer rounded to 16 bits; the layer becomes their float32 values.
std::vector<uint16_t> round_to_half(FloatLayer& layer, bool bfloat) {
  std::vector<uint16_t> halves;
  for (float& w : layer.weight) {
    halves.push_back(bfloat ? float_to_bfloat(w) : float_to_half(w));
    w = bfloat ? bfloat_to_float(halves.back()) : half_to_float(halves.back());
  }
  return halves;
}

TEST(PackedMatrix, RowsThatAreFetchedGiveTheSameBits) {
  for (const int64_t out : {1, 64, 65, 300}) {
    for (const int64_t in : {0, 5, 257, 600}) {
      const FloatLayer layer(7, out, in, out % 2 == 0);
      on_every_isa([&](const std::string& isa) {
        const auto read = [&](int64_t begin, int64_t count, float* to) {
          std::copy_n(layer.weight.data() + begin * in, count * in, to);
        };
        const PackedMatrix packed(MatrixRows{out, in, read},
                                  layer.bias.empty() ? nullptr : layer.bias.data());
        std::vector<float> y(static_cast<size_t>(7 * out));
        packed.multiply(layer.x.data(), 7, y.data());
        ASSERT_EQ(y, layer.multiply(0, 7)) << name(isa, layer);
      });
    }
  }
}

TEST(PackedMatrix, WeightsIn16BitsGiveTheSameBits) {
  for (const bool bfloat : {false, true}) {
    for (const int64_t out : {1, 31, 64, 65, 128, 300}) {
      for (const int64_t in : {0, 1, 5, 64, 65, 257, 602}) {
        for (const int64_t rows : {0, 1, 2, 3, 4, 5, 7, 33, 100}) {
          FloatLayer layer(rows, out, in, out % 2 == 0);
          const std::vector<uint16_t> halves = round_to_half(layer, bfloat);
          on_every_isa([&](const std::string& isa) {
            const auto expect_same_as_floats = [&](const HalfMatrix& matrix, HalfPacking packing) {
              const PackedMatrix packed(matrix, layer.bias.empty() ? nullptr : layer.bias.data(), packing);
              std::vector<float> y(static_cast<size_t>(rows * out + 1), kFloatGuard);
              packed.multiply(layer.x.data(), rows, y.data());
              ASSERT_EQ(y.back(), kFloatGuard) << "written behind the end";
              y.pop_back();
              ASSERT_EQ(y, layer.multiply(0, rows))
                  << name(isa, layer) << (bfloat ? ", bfloat16" : ", float16");
            };
            const HalfMatrix matrix{halves.data(), out, in, bfloat};
            expect_same_as_floats(matrix, HalfPacking::kOnce);
            expect_same_as_floats(matrix, HalfPacking::kEachCall);
            if (!pairing_pays(out, in)) return;
            std::vector<uint16_t> pairs = halves;
            pair_panels(pairs.data(), out, in);
            expect_same_as_floats({pairs.data(), out, in, bfloat, true}, HalfPacking::kEachCall);
          });
        }
      }
    }
  }
}

TEST(PackedMatrix, WeightsIn16BitsArePackedAfterSomeProducts) {
  constexpr int kCalls = 30;
  FloatLayer layer(3, 130, 257, true);
  const std::vector<uint16_t> rounded = round_to_half(layer, false);
  on_every_isa([&](const std::string& isa) {
    std::vector<uint16_t> halves = rounded;
    const PackedMatrix packed(HalfMatrix{halves.data(), layer.out, layer.in, false}, layer.bias.data(),
                              HalfPacking::kOnce);
    std::vector<float> y(static_cast<size_t>(layer.rows * layer.out));
    for (int call = 0; call <= kCalls; ++call) {
      std::ranges::fill(y, kFloatGuard);
      packed.multiply(layer.x.data(), layer.rows, y.data());
      ASSERT_EQ(y, layer.multiply(0, layer.rows)) << name(isa, layer) << ", call " << call;
      if (call == kCalls - 1) std::ranges::fill(halves, uint16_t{0});  // not used any more
    }
  });
}

/// Products of weights that are kept in 16 bits.
std::vector<float> multiply_halves(const FloatLayer& layer, const std::vector<uint16_t>& halves,
                                   bool bfloat) {
  const PackedMatrix packed(HalfMatrix{halves.data(), layer.out, layer.in, bfloat}, nullptr,
                            HalfPacking::kEachCall);
  std::vector<float> y(static_cast<size_t>(layer.rows * layer.out));
  packed.multiply(layer.x.data(), layer.rows, y.data());
  return y;
}

/// Equal, where NaN equals NaN.
void expect_same(const std::vector<float>& y, const std::vector<float>& expected, const std::string& what) {
  ASSERT_EQ(y.size(), expected.size());
  for (size_t i = 0; i < y.size(); ++i) {
    ASSERT_TRUE(y[i] == expected[i] || (std::isnan(y[i]) && std::isnan(expected[i])))
        << what << " at " << i << ": " << y[i] << ", not " << expected[i];
  }
}

// Weights from the least to the largest number of 16 bits, in one row or each in its own, and x with numbers
// that are not finite: few rows, which are multiplied without packing, have the bits of float32 weights.
TEST(PackedMatrix, WeightsIn16BitsOfAnyMagnitudeGiveTheSameBits) {
  constexpr int64_t kOut = 70, kIn = 420;
  for (const bool bfloat : {false, true}) {
    for (const bool mixed : {false, true}) {
      for (const float bad :
           {0.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        FloatLayer layer(3, kOut, kIn, false);
        const int least = bfloat ? -135 : -26, most = bfloat ? 126 : 14;
        for (int64_t i = 0; i < kOut * kIn; ++i) {
          const int64_t position = mixed ? i : i / kIn;
          layer.weight[i] = std::ldexp(std::fmod(layer.weight[i], 1.9f),
                                       least + static_cast<int>(position * 37 % (most - least)));
        }
        layer.x[kIn + 17] = bad;
        const std::vector<uint16_t> halves = round_to_half(layer, bfloat);
        on_every_isa([&](const std::string& isa) {
          expect_same(multiply_halves(layer, halves, bfloat), layer.multiply(0, layer.rows),
                      name(isa, layer) + (bfloat ? ", bfloat16" : ", float16"));
        });
      }
    }
  }
}

TEST(PackedMatrix, WideningIsExact) {
  for (const bool bfloat : {false, true}) {
    std::vector<uint16_t> all;
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const uint32_t exponent = bfloat ? 0x7f80 : 0x7c00;
      if ((bits & exponent) != exponent) all.push_back(static_cast<uint16_t>(bits));
    }
    std::vector<float> expected;
    for (const uint16_t bits : all) expected.push_back(bfloat ? bfloat_to_float(bits) : half_to_float(bits));
    on_every_isa([&](const std::string& isa) {
      std::vector<float> floats(all.size());
      widen({all.data(), 1, static_cast<int64_t>(all.size()), bfloat}, floats.data());
      EXPECT_EQ(floats, expected) << isa;
    });
  }
}

// The batch invariance of translation rests on this.
void expect_batch_invariance(int64_t out, int64_t in) {
  constexpr int64_t kMost = 300;
  const FloatLayer layer(kMost, out, in, out != 21);
  on_every_isa([&](const std::string& isa) {
    std::vector<float> alone;
    for (int64_t row = 0; row < kMost; ++row) {
      const std::vector<float> y = layer.multiply(row, 1);
      alone.insert(alone.end(), y.begin(), y.end());
    }
    for (const int64_t rows : {2, 3, 5, 11, 12, 13, 16, 17, 25, 33, 95, 96, 97, 192, 193, 300}) {
      // Another row of the batch than alone.
      const std::vector<float> together = layer.multiply(kMost - rows, rows);
      EXPECT_TRUE(std::equal(together.begin(), together.end(), alone.end() - rows * layer.out))
          << name(isa, layer) << ": the last " << rows << " rows";
    }
  });
}

TEST(PackedMatrix, IsBatchInvariant) {
  for (const auto& [out, in] :
       {std::pair<int64_t, int64_t>{21, 21}, {21, 37}, {256, 256}, {96, 520}, {1000, 128}}) {
    expect_batch_invariance(out, in);
  }
}

TEST(PackedMatrix, ThreadsMayShareIt) {
  const FloatLayer layer(50, 24, 40, true);
  const PackedMatrix packed = layer.packed();
  const std::vector<float> expected = layer.multiply(0, layer.rows);
  std::vector<std::vector<float>> results(3, std::vector<float>(expected.size()));
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20; ++n) packed.multiply(layer.x.data(), layer.rows, result.data());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

}  // namespace
}  // namespace heed
