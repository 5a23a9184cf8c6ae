#include "kernels/gemm/gemm.h"

#include <gtest/gtest.h>
#ifdef __x86_64__
#include <dnnl.h>
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "kernels/gemm/gemm_library.h"
#include "kernels/gemm/openmp_threads.h"
#include "kernels/simd/isa.h"
#include "kernels/simd/test_isas.h"
#include "kernels/simd/test_numbers.h"

namespace heed {
namespace {

struct Sizes {
  int64_t m, n, k;
};

template <typename T>
class Gemm : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, FloatTypes);

/// C0 of C = C0 + A B.
enum class Begin { kZero, kSums, kBias };

/// The relative rounding error of an operand.
double unit_of(MatmulPrecision precision) {
  return precision == MatmulPrecision::kHighest ? 0 : 0x1p-8;
}

/// Compares with sums in long double. The error of a sum of k terms, in any order, is at most k half units in
/// the last place of the sum of their absolute values, and nearly always at most the square root of k times
/// that. The same holds for terms with rounded operands.
template <typename T>
void expect_formula(const Sizes& sizes, bool transpose_a, bool transpose_b, Begin begin,
                    MatmulPrecision precision = MatmulPrecision::kHighest) {
  const int64_t m = sizes.m, n = sizes.n, k = sizes.k;
  // Strides are larger than rows, and elements between rows must not be written.
  const int64_t a_stride = (transpose_a ? m : k) + 3, b_stride = (transpose_b ? k : n) + 2, c_stride = n + 1;
  const auto a = normal<T>((transpose_a ? k : m) * a_stride + 1, 1);
  const auto b = normal<T>((transpose_b ? n : k) * b_stride + 1, 2);
  const auto before = normal<T>(m * c_stride + 1, 3), bias = normal<T>(n, 4);
  const auto column = [&](int64_t j, int64_t p) {
    return static_cast<long double>(transpose_b ? b[j * b_stride + p] : b[p * b_stride + j]);
  };
  std::vector<long double> sums, magnitudes;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      long double sum = begin == Begin::kZero   ? 0
                        : begin == Begin::kSums ? before[i * c_stride + j]
                                                : bias[j];
      long double size = std::abs(sum);
      for (int64_t p = 0; p < k; ++p) {
        const long double term =
            static_cast<long double>(transpose_a ? a[p * a_stride + i] : a[i * a_stride + p]) * column(j, p);
        sum += term;
        size += std::abs(term);
      }
      sums.push_back(sum);
      magnitudes.push_back(size);
    }
  }
  on_every_isa([&](const std::string& isa) {
    std::vector<T> c = before;
    gemm({.transpose_a = transpose_a,
          .transpose_b = transpose_b,
          .m = m,
          .n = n,
          .k = k,
          .a = a.data(),
          .a_stride = a_stride,
          .b = b.data(),
          .b_stride = b_stride,
          .accumulate = begin == Begin::kSums,
          .bias = begin == Begin::kBias ? bias.data() : nullptr,
          .c = c.data(),
          .c_stride = c_stride,
          .precision = precision});
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const double terms = std::sqrt(static_cast<double>(k + 2));
        const double tolerance = terms * static_cast<double>(magnitudes[i * n + j]) *
                                     static_cast<double>(std::numeric_limits<T>::epsilon()) +
                                 5 * terms * unit_of(precision);
        ASSERT_NEAR(static_cast<double>(c[i * c_stride + j]), static_cast<double>(sums[i * n + j]), tolerance)
            << isa << ": " << m << " x " << n << " x " << k << (transpose_a ? ", A transposed" : "")
            << (transpose_b ? ", B transposed" : "") << " at " << i << ", " << j;
      }
      ASSERT_EQ(c[i * c_stride + n], before[i * c_stride + n]) << isa << ": written between the rows";
    }
  });
}

template <typename T>
void expect_formulas(const Sizes& sizes, MatmulPrecision precision = MatmulPrecision::kHighest) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const Begin begin : {Begin::kZero, Begin::kSums, Begin::kBias}) {
        expect_formula<T>(sizes, transpose_a, transpose_b, begin, precision);
      }
    }
  }
}

TYPED_TEST(Gemm, IsTheSumOfProducts) {
  for (const Sizes sizes : {Sizes{1, 1, 1},
                            {1, 7, 5},
                            {3, 1, 9},
                            {4, 17, 8},
                            {5, 3, 1},
                            {33, 65, 31},
                            {2, 4, 0},
                            {0, 3, 2},
                            {3, 0, 2}}) {
    expect_formulas<TypeParam>(sizes);
  }
}

// Large enough for AMX: whole and partial panels, several blocks of K, several blocks of rows or columns.
TEST(GemmOfFloats, IsTheSumOfManyProducts) {
  for (const Sizes sizes : {Sizes{64, 64, 48},
                            {65, 80, 49},
                            {80, 65, 64},
                            {63, 113, 65},
                            {97, 49, 520},
                            {66, 70, 255},
                            {70, 66, 257}}) {
    expect_formulas<float>(sizes);
  }
  for (const bool more_rows : {false, true}) {
    const Sizes sizes{more_rows ? 1050 : 1030, more_rows ? 1030 : 1050, 193};
    expect_formula<float>(sizes, false, true, Begin::kBias);
  }
}

TEST(GemmOfFloats, MediumPrecisionIsTheSumOfRoundedProducts) {
  for (const Sizes sizes : {Sizes{65, 80, 24}, {80, 65, 49}, {63, 113, 100}, {97, 49, 1600}}) {
    expect_formulas<float>(sizes, MatmulPrecision::kMedium);
  }
  expect_formula<float>({4200, 70, 64}, false, true, Begin::kBias, MatmulPrecision::kMedium);
}

TEST(GemmOfFloats, IsTheSumOfProductsForRandomShapes) {
  Random random(RandomKey::from_seed(7));
  for (int n = 0; n < 60; ++n) {
    const auto size = [&](uint64_t most) { return static_cast<int64_t>(1 + random.below(most)); };
    const Sizes sizes{size(150), size(150), size(n % 10 == 0 ? 600 : 100)};
    expect_formula<float>(sizes, random.below(2) == 1, random.below(2) == 1,
                          static_cast<Begin>(random.below(3)));
  }
}

constexpr int64_t kSquareSize = 64;

std::vector<float> multiply_squares(const std::vector<float>& a, const std::vector<float>& b,
                                    MatmulPrecision precision = MatmulPrecision::kHighest) {
  std::vector<float> c(kSquareSize * kSquareSize);
  gemm({.m = kSquareSize,
        .n = kSquareSize,
        .k = kSquareSize,
        .a = a.data(),
        .a_stride = kSquareSize,
        .b = b.data(),
        .b_stride = kSquareSize,
        .c = c.data(),
        .c_stride = kSquareSize,
        .precision = precision});
  return c;
}

TEST(GemmOfFloats, IsTheSumOfProductsOfAnyMagnitude) {
  for (const float size : {1e-30f, 1e-10f, 1e10f, 1e30f}) {
    auto a = normal<float>(kSquareSize * kSquareSize, 1);
    const auto b = normal<float>(kSquareSize * kSquareSize, 2);
    for (float& number : a) number *= size;
    std::map<std::string, std::vector<float>> results;
    on_every_isa([&](const std::string& isa) {
      const auto& c = results[isa] = multiply_squares(a, b);
      for (int64_t i = 0; i < kSquareSize * kSquareSize; ++i)
        ASSERT_NEAR(c[i], results["generic"][i], 3e-5f * size) << isa;
    });
  }
}

/// The largest error of sums of 64 products of size 1.
double largest_error(const std::vector<float>& c, const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (int64_t i = 0; i < kSquareSize; ++i) {
    for (int64_t j = 0; j < kSquareSize; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < kSquareSize; ++k) {
        sum += static_cast<double>(a[i * kSquareSize + k]) * static_cast<double>(b[k * kSquareSize + j]);
      }
      largest = std::max(largest, std::abs(c[i * kSquareSize + j] - sum));
    }
  }
  return largest;
}

// Rounded to p bits, a number of size 1 has an error of at most 2^-p. A sum of 64 products of two such
// numbers has an error of about 8 times 2^-p, and the worst of 4,096 sums 4 times that; sums of up to 32 are
// rounded too, 64 times.
TEST(GemmOfFloats, MediumPrecisionIsLessExactWhereItIsFasterAlone) {
  const auto a = normal<float>(kSquareSize * kSquareSize, 1), b = normal<float>(kSquareSize * kSquareSize, 2);
  const auto error_with = [&](MatmulPrecision precision) {
    return largest_error(multiply_squares(a, b, precision), a, b);
  };
  on_every_isa([&](const std::string& isa) {
    const double highest = error_with(MatmulPrecision::kHighest),
                 medium = error_with(MatmulPrecision::kMedium);
    EXPECT_LT(highest, 0x1p-16) << isa;
    if (isa == "avx512bf16" || isa == "amx") {
      EXPECT_LT(medium, 32 * 0x1p-8);
      EXPECT_GT(medium, 0x1p-10);
    } else {
      EXPECT_EQ(medium, highest) << isa;
    }
  });
}

// A loss that is NaN must show.
TEST(GemmOfFloats, NanAndInfinityReachTheirRowOrColumnAlone) {
  constexpr int64_t kBad = 17;
  constexpr auto kAllBits = std::bit_cast<float>(0x7fffffffu);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kAllBits, -kAllBits,
                          std::numeric_limits<float>::infinity()}) {
    for (const bool in_a : {false, true}) {
      auto a = normal<float>(kSquareSize * kSquareSize, 1), b = normal<float>(kSquareSize * kSquareSize, 2);
      (in_a ? a[kBad * kSquareSize + 3] : b[3 * kSquareSize + kBad]) = bad;
      on_every_isa([&](const std::string& isa) {
        for (const auto precision : {MatmulPrecision::kHighest, MatmulPrecision::kMedium}) {
          const std::vector<float> c = multiply_squares(a, b, precision);
          for (int64_t i = 0; i < kSquareSize * kSquareSize; ++i) {
            const int64_t index = in_a ? i / kSquareSize : i % kSquareSize;
            ASSERT_EQ(std::isfinite(c[i]), index != kBad) << isa << " at " << i;
          }
        }
      });
    }
  }
}

#ifdef __x86_64__
TEST(GemmLibrary, UsesNoInstructionsBeyondThoseOfHeedIsa) {
  const float a = 2, b = 3;
  float c = 0;
  GemmArguments<float> g;
  g.m = g.n = g.k = g.a_stride = g.b_stride = g.c_stride = 1;
  g.a = &a;
  g.b = &b;
  g.c = &c;
  multiply_by_library(g);
  EXPECT_EQ(c, 6);
  const int kernels = internal::kernel_set_of_environment();
  const dnnl_cpu_isa_t used = dnnl_get_effective_cpu_isa();
  if (kernels < 3) {
    EXPECT_EQ(used, kernels == 2 ? dnnl_cpu_isa_avx2 : dnnl_cpu_isa_sse41);
  } else {
    EXPECT_EQ(used & dnnl_cpu_isa_avx512_core, dnnl_cpu_isa_avx512_core);
  }
}
#endif

// The number of threads is that of every library in the process that uses OpenMP.
TEST(GemmThreads, LeavesTheNumberOfOpenMpThreadsAsItWas) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  const std::vector<float> a(64 * 64, 1), b(64 * 64, 1);
  std::vector<float> c(64 * 64);
  gemm(GemmArguments<float>{.m = 64,
                            .n = 64,
                            .k = 64,
                            .a = a.data(),
                            .a_stride = 64,
                            .b = b.data(),
                            .b_stride = 64,
                            .c = c.data(),
                            .c_stride = 64});
  EXPECT_EQ(c[0], 64);
  EXPECT_EQ(omp_get_max_threads(), 3);
  omp_set_num_threads(before);
}

}  // namespace
}  // namespace heed
