#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace heed {
namespace {

template <typename T>
std::vector<T> normal(int64_t size, uint64_t seed) {
  Random random(RandomKey::from_seed(seed));
  std::vector<T> values(static_cast<size_t>(size));
  for (T& value : values) value = static_cast<T>(random.normal());
  return values;
}

struct Sizes {
  int64_t m, n, k;
};
const std::vector<Sizes> kSizes{{1, 1, 1},    {1, 7, 5}, {3, 1, 9}, {4, 17, 8}, {5, 3, 1},
                                {33, 65, 31}, {2, 4, 0}, {0, 3, 2}, {3, 0, 2}};

template <typename T>
class Gemm : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, FloatTypes);

// Against sums in long double; a sum of k terms of size 1 is off by at most k epsilon times its size.
TYPED_TEST(Gemm, IsTheSumOfProducts) {
  using T = TypeParam;
  for (const auto& [m, n, k] : kSizes) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        for (const bool accumulate : {false, true}) {
          // Rows lie further apart than they are long, and what lies between must not be touched.
          const int64_t a_stride = (transpose_a ? m : k) + 3, b_stride = (transpose_b ? k : n) + 2,
                        c_stride = n + 1;
          const auto a = normal<T>((transpose_a ? k : m) * a_stride + 1, 1);
          const auto b = normal<T>((transpose_b ? n : k) * b_stride + 1, 2);
          const auto before = normal<T>(m * c_stride + 1, 3);
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
                .accumulate = accumulate,
                .c = c.data(),
                .c_stride = c_stride});
          for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = 0; j < n; ++j) {
              long double sum = accumulate ? before[i * c_stride + j] : 0, size = std::abs(sum);
              for (int64_t p = 0; p < k; ++p) {
                const long double term =
                    static_cast<long double>(transpose_a ? a[p * a_stride + i] : a[i * a_stride + p]) *
                    static_cast<long double>(transpose_b ? b[j * b_stride + p] : b[p * b_stride + j]);
                sum += term;
                size += std::abs(term);
              }
              const auto tolerance = static_cast<double>(static_cast<long double>(k + 2) * size) *
                                     static_cast<double>(std::numeric_limits<T>::epsilon());
              ASSERT_NEAR(static_cast<double>(c[i * c_stride + j]), static_cast<double>(sum), tolerance)
                  << m << " x " << n << " x " << k << (transpose_a ? ", A transposed" : "")
                  << (transpose_b ? ", B transposed" : "") << " at " << i << ", " << j;
            }
            ASSERT_EQ(c[i * c_stride + n], before[i * c_stride + n]) << "written between the rows";
          }
        }
      }
    }
  }
}

class Packed : public testing::TestWithParam<bool> {};

TEST_P(Packed, IsTheSameAsGemm) {
  for (const auto& [in, out] : {std::pair<int64_t, int64_t>{1, 1}, {5, 3}, {64, 17}, {33, 130}}) {
    for (const int64_t rows : {0, 1, 2, 5, 16, 67, 300}) {
      const auto weight = normal<float>(out * in, 1), bias = normal<float>(out, 2),
                 x = normal<float>(rows * in, 3);
      const PackedMatrix packed(weight.data(), out, in, GetParam() ? bias.data() : nullptr);
      EXPECT_EQ(packed.out(), out);
      EXPECT_EQ(packed.in(), in);
      std::vector<float> y(static_cast<size_t>(rows * out + 1), 12345.0f), expected(y.size());
      packed.multiply(x.data(), rows, y.data());
      for (int64_t row = 0; row < rows && GetParam(); ++row)
        std::copy(bias.begin(), bias.end(), &expected[row * out]);
      gemm({.transpose_b = true,
            .m = rows,
            .n = out,
            .k = in,
            .a = x.data(),
            .a_stride = in,
            .b = weight.data(),
            .b_stride = in,
            .accumulate = GetParam(),
            .c = expected.data(),
            .c_stride = out});
      // Two orders of a sum of `in` terms, of size 4 or less on average.
      const double tolerance = 8.0 * static_cast<double>(in + 2) * std::numeric_limits<float>::epsilon();
      for (int64_t i = 0; i < rows * out; ++i)
        ASSERT_NEAR(y[i], expected[i], tolerance) << rows << " rows, " << i;
      EXPECT_EQ(y.back(), 12345.0f);
    }
  }
}

// What a sentence's translation being the same in any company stands on.
TEST_P(Packed, ARowIsTheSameInAnyCompany) {
  for (const auto& [in, out] :
       {std::pair<int64_t, int64_t>{64, 64}, {37, 21}, {256, 256}, {512, 96}, {128, 1000}}) {
    constexpr int64_t kMost = 300;
    const auto weight = normal<float>(out * in, 1), bias = normal<float>(out, 2),
               x = normal<float>(kMost * in, 3);
    const PackedMatrix packed(weight.data(), out, in, GetParam() ? bias.data() : nullptr);
    std::vector<float> alone(static_cast<size_t>(kMost * out));
    for (int64_t row = 0; row < kMost; ++row) packed.multiply(&x[row * in], 1, &alone[row * out]);
    for (const int64_t rows :
         {2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 31, 32, 33, 48, 63, 64, 100, 128, 255, 256, 300}) {
      std::vector<float> together(static_cast<size_t>(rows * out));
      const int64_t first = kMost - rows;  // another place in the batch than alone
      packed.multiply(&x[first * in], rows, together.data());
      int64_t different = 0;
      for (int64_t i = 0; i < rows * out; ++i) different += together[i] != alone[first * out + i] ? 1 : 0;
      EXPECT_EQ(different, 0) << rows << " rows, in " << in << ", out " << out << ": elements that differ";
    }
  }
}

TEST_P(Packed, ThreadsMayShareIt) {
  constexpr int64_t kIn = 40, kOut = 24, kRows = 50;
  const auto weight = normal<float>(kOut * kIn, 1), bias = normal<float>(kOut, 2),
             x = normal<float>(kRows * kIn, 3);
  const PackedMatrix packed(weight.data(), kOut, kIn, GetParam() ? bias.data() : nullptr);
  std::vector<float> expected(static_cast<size_t>(kRows * kOut));
  packed.multiply(x.data(), kRows, expected.data());
  std::vector<std::vector<float>> results(3, std::vector<float>(expected.size()));
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20; ++n) packed.multiply(x.data(), kRows, result.data());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

INSTANTIATE_TEST_SUITE_P(Bias, Packed, testing::Bool(),
                         [](const auto& each) { return each.param ? "With" : "Without"; });

}  // namespace
}  // namespace heed
