#include "kernels/gemm/packed/packed_bf16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/gemm/packed/packed_matrix.h"
#include "kernels/simd/test_isas.h"
#include "kernels/simd/test_numbers.h"

namespace heed {
namespace {

/// Runs `body` on each instruction set with products in bfloat16.
template <typename Body>
void where_bf16_runs(const Body& body) {
  on_every_isa([&](const std::string& isa) {
    if (has_bf16_products()) body(isa);
  });
}

/// The nearest bfloat16 number.
double rounded(float x) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(x) + 0x8000u) & 0xffff0000u);
}

struct Bf16Layer {
  Bf16Layer(int64_t rows_of_x, int64_t outputs, int64_t inputs)
      : rows(rows_of_x),
        out(outputs),
        in(inputs),
        x(normal<float>(rows * in, 1)),
        weight(normal<float>(out * in, 2)),
        bias(normal<float>(out, 3)) {}
  std::vector<float> multiply(int64_t first, int64_t count) const {
    const auto read = [&](int64_t begin, int64_t some, float* to) {
      std::copy_n(weight.data() + begin * in, some * in, to);
    };
    constexpr float kMarker = 12345;
    std::vector<float> y(static_cast<size_t>(count * out + 1), kMarker);
    PackedMatrix::in_bfloat16({out, in, read}, bias.data()).multiply(x.data() + first * in, count, y.data());
    EXPECT_EQ(y.back(), kMarker) << "written behind the end";
    y.pop_back();
    return y;
  }

  int64_t rows, out, in;
  std::vector<float> x, weight, bias;
};

/// Products of rounded numbers are exact in float32; their sum has the error of packed_matrix_test.cc.
void expect_formula(const Bf16Layer& l, const std::string& isa) {
  const std::vector<float> y = l.multiply(0, l.rows);
  for (int64_t r = 0; r < l.rows; ++r) {
    for (int64_t o = 0; o < l.out; ++o) {
      double sum = static_cast<double>(l.bias[o]), size = std::abs(sum);
      for (int64_t i = 0; i < l.in; ++i) {
        const double term = rounded(l.x[r * l.in + i]) * rounded(l.weight[o * l.in + i]);
        sum += term;
        size += std::abs(term);
      }
      const double tolerance =
          std::sqrt(static_cast<double>(l.in + 2)) * size * std::numeric_limits<float>::epsilon();
      ASSERT_NEAR(y[r * l.out + o], sum, tolerance)
          << isa << ": " << l.rows << " x " << l.out << " x " << l.in << " at " << r << ", " << o;
    }
  }
}

// Around whole panels, steps along K, blocks of rows (MC) and of inputs (KC).
TEST(PackedBf16, IsTheSumOfRoundedProducts) {
  where_bf16_runs([&](const std::string& isa) {
    for (const int64_t out : {1, 17, 64, 130}) {
      for (const int64_t in : {0, 1, 16, 31, 32, 33, 255, 256, 300}) {
        for (const int64_t rows : {0, 1, 12, 13, 33, 97}) expect_formula(Bf16Layer(rows, out, in), isa);
      }
    }
    expect_formula(Bf16Layer(3, 4100, 40), isa);  // packed in two parts
  });
}

TEST(PackedBf16, IsBatchInvariant) {
  where_bf16_runs([&](const std::string& isa) {
    const Bf16Layer layer(150, 70, 600);
    const std::vector<float> all = layer.multiply(0, layer.rows);
    for (const int64_t count : {1, 2, 12, 13, 40}) {
      for (int64_t first = 0; first + count <= layer.rows; first += 37) {
        const std::vector<float> some = layer.multiply(first, count);
        ASSERT_TRUE(std::equal(some.begin(), some.end(), all.begin() + first * layer.out))
            << isa << ": " << count << " rows from " << first;
      }
    }
  });
}

TEST(PackedBf16, NanAndInfinityReachTheirRowAlone) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::bit_cast<float>(0x7fffffffu),
                          std::numeric_limits<float>::infinity()}) {
    Bf16Layer layer(20, 33, 70);
    layer.x[7 * layer.in + 69] = bad;
    where_bf16_runs([&](const std::string& isa) {
      const std::vector<float> y = layer.multiply(0, layer.rows);
      for (int64_t i = 0; i < layer.rows * layer.out; ++i) {
        ASSERT_EQ(std::isfinite(y[i]), i / layer.out != 7) << isa << " at " << i;
      }
    });
  }
}

TEST(PackedBf16, RunsWhereItIsFasterAlone) {
  on_every_isa([&](const std::string& isa) {
    EXPECT_EQ(has_bf16_products(), isa == "avx512bf16" || isa == "amx") << isa;
  });
}

}  // namespace
}  // namespace heed
