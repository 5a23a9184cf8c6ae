#include "kernels/packed_matrix.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "kernels/test_isas.h"
#include "kernels/test_numbers.h"

namespace heed {
namespace {

constexpr float kGuard = 12345;

enum class Kind { kAny, kFewDigits, kManyRows };

/// A layer and its input. Weights of few digits are what is left of those that were stored in 16 bits.
struct Layer {
  Layer(int64_t rows_of_x, int64_t outputs, int64_t inputs, bool with_bias, Kind kind = Kind::kAny)
      : rows(rows_of_x),
        out(outputs),
        in(inputs),
        x(normal<float>(rows * in, 1)),
        weight(normal<float>(out * in, 2)) {
    if (with_bias) bias = normal<float>(out, 3);
    if (kind == Kind::kManyRows) mostly = MostlyRows::kMany;
    if (kind != Kind::kFewDigits) return;
    constexpr uint32_t kSignificantBits11 = 0xffffe000u;
    for (float& w : weight) w = std::bit_cast<float>(std::bit_cast<uint32_t>(w) & kSignificantBits11);
  }
  PackedMatrix packed() const {
    return {weight.data(), out, in, bias.empty() ? nullptr : bias.data(), mostly};
  }
  std::vector<float> multiply(int64_t first, int64_t count) const {
    std::vector<float> y(static_cast<size_t>(count * out + 1), kGuard);
    packed().multiply(x.data() + first * in, count, y.data());
    EXPECT_EQ(y.back(), kGuard) << "written behind the end";
    y.pop_back();
    return y;
  }

  int64_t rows, out, in;
  std::vector<float> x, weight, bias;
  MostlyRows mostly = MostlyRows::kFew;
};

/// y = x W^T + b as the formula says it. A sum of n terms, in whatever order, is off by at most n half units
/// in the last place of the sum of their sizes; and by their square root, nearly always.
void expect_formula(const Layer& l, const std::string& what) {
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

std::string name(const std::string& isa, const Layer& l) {
  return fmt::format("{} with {} rows, {} x {}", isa, l.rows, l.out, l.in);
}

TEST(PackedMatrix, IsTheSumOfProducts) {
  // Around whole panels, tiles, and inputs that fit the cache.
  for (const int64_t out : {1, 15, 31, 32, 33, 130}) {
    for (const int64_t in : {0, 1, 5, 255, 256, 257, 600}) {
      for (const int64_t rows : {0, 1, 7, 13}) {
        const Layer layer(rows, out, in, in % 2 == 0);
        on_every_isa([&](const std::string& isa) { expect_formula(layer, name(isa, layer)); });
      }
    }
  }
}

// For which there are matrix registers, where inputs fill them.
TEST(PackedMatrix, IsTheSumOfProductsByParts) {
  for (const int64_t out : {1, 33, 64, 130}) {
    for (const int64_t in : {31, 32, 96}) {
      for (const int64_t rows : {0, 1, 15, 16, 17, 32, 33, 95, 97}) {
        for (const Kind kind : {Kind::kFewDigits, Kind::kManyRows}) {
          const Layer layer(rows, out, in, out % 2 == 0, kind);
          on_every_isa([&](const std::string& isa) { expect_formula(layer, name(isa, layer)); });
        }
      }
    }
  }
}

// More inputs than are multiplied at once.
TEST(PackedMatrix, IsTheSumOfManyProductsByParts) {
  for (const int64_t in : {1024, 1056, 2080}) {
    for (const Kind kind : {Kind::kFewDigits, Kind::kManyRows}) {
      const Layer layer(33, 65, in, true, kind);
      on_every_isa([&](const std::string& isa) { expect_formula(layer, name(isa, layer)); });
    }
  }
}

// A single weight that two parts do not hold; numbers far from one; the smallest ones count as zero.
TEST(PackedMatrix, IsTheSumOfProductsOfAnySize) {
  for (const float size : {1e-30f, 1e-10f, 1e10f, 1e30f}) {
    for (const bool odd : {false, true}) {
      Layer layer(20, 40, 96, false, odd ? Kind::kManyRows : Kind::kFewDigits);
      for (float& w : layer.weight) w *= size;
      if (odd) layer.weight.back() *= 1.0000001f;
      on_every_isa([&](const std::string& isa) { expect_formula(layer, name(isa, layer)); });
    }
  }
}

TEST(PackedMatrix, KeepsWhatIsNoNumberInItsRow) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const Kind kind : {Kind::kAny, Kind::kFewDigits, Kind::kManyRows}) {
      Layer layer(3, 20, 64, true, kind);
      const std::vector<float> good = layer.multiply(0, 3);
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
}

TEST(PackedMatrix, IsTheSumOfProductsForRandomShapes) {
  Random random(RandomKey::from_seed(5));
  for (int n = 0; n < 60; ++n) {
    const auto rows = static_cast<int64_t>(random.below(n % 10 == 0 ? 250 : 30));
    const auto out = static_cast<int64_t>(1 + random.below(200)),
               any = static_cast<int64_t>(random.below(400));
    const int64_t in = n % 2 == 0 ? any : any / 32 * 32;
    const Layer layer(rows, out, in, n % 3 != 0,
                      std::array{Kind::kAny, Kind::kFewDigits, Kind::kAny, Kind::kManyRows}[n % 4]);
    on_every_isa([&](const std::string& isa) { expect_formula(layer, name(isa, layer)); });
  }
}

// What a sentence's translation being the same in any company stands on.
void expect_any_company(int64_t out, int64_t in, Kind kind) {
  constexpr int64_t kMost = 300;
  const Layer layer(kMost, out, in, out != 21, kind);
  on_every_isa([&](const std::string& isa) {
    std::vector<float> alone;
    for (int64_t row = 0; row < kMost; ++row) {
      const std::vector<float> y = layer.multiply(row, 1);
      alone.insert(alone.end(), y.begin(), y.end());
    }
    for (const int64_t rows : {2, 3, 5, 11, 12, 13, 16, 17, 25, 33, 95, 96, 97, 192, 193, 300}) {
      // Another place in the batch than alone.
      const std::vector<float> together = layer.multiply(kMost - rows, rows);
      EXPECT_TRUE(std::equal(together.begin(), together.end(), alone.end() - rows * layer.out))
          << name(isa, layer) << ": the last " << rows << " rows";
    }
  });
}

TEST(PackedMatrix, ARowIsTheSameInAnyCompany) {
  for (const auto& [out, in] : {std::pair<int64_t, int64_t>{21, 37}, {256, 256}, {96, 520}, {1000, 128}}) {
    expect_any_company(out, in, Kind::kAny);
  }
  for (const auto& [out, in] : {std::pair<int64_t, int64_t>{21, 32}, {256, 256}, {96, 544}}) {
    expect_any_company(out, in, Kind::kFewDigits);
    expect_any_company(out, in, Kind::kManyRows);
  }
}

TEST(PackedMatrix, ThreadsMayShareIt) {
  const Layer layer(50, 24, 40, true);
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
