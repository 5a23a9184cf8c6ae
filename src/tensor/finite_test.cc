#include "tensor/finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensor/half.h"

namespace heed {
namespace {

TEST(Finite, FindsTheFirstOfSeveral) {
  std::vector<float> values(10'000, 1.5F);
  values[1] = std::numeric_limits<float>::max();
  values[2] = -std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(first_not_finite(values.data(), values.size()), values.size());
  EXPECT_EQ(first_not_finite(values.data(), 0), 0u);
  for (const size_t at : {size_t{9999}, size_t{4096}, size_t{4095}, size_t{17}, size_t{0}}) {
    values[at] = at % 2 == 0 ? NAN : -INFINITY;
    EXPECT_EQ(first_not_finite(values.data(), values.size()), at);
    EXPECT_EQ(first_not_finite(values.data(), at), at);
  }
}

TEST(Finite, AgreesWithConversionForEverySixteenBitPattern) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto value = static_cast<uint16_t>(bits);
    EXPECT_EQ(first_not_finite_half(&value, 1) == 1, std::isfinite(half_to_float(value))) << bits;
    EXPECT_EQ(first_not_finite_bfloat(&value, 1) == 1, std::isfinite(bfloat_to_float(value))) << bits;
  }
  const std::vector<uint16_t> infinite(70'000, 0x7C00);  // more than a 16-bit counter can hold
  EXPECT_EQ(first_not_finite_half(infinite.data(), infinite.size()), 0u);
}

}  // namespace
}  // namespace heed
