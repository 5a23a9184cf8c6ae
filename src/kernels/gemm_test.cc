#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/test_numbers.h"

namespace heed {
namespace {

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

}  // namespace
}  // namespace heed
