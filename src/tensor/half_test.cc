#include "tensor/half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/rng.h"

namespace heed {
namespace {

/// A format of 16 bits, described by its numbers alone: the tests compute in double what the code does with
/// bits.
struct Format {
  const char* name;
  int significand_bits;  // after the point
  int smallest_exponent;
  int largest_exponent;
  float (*decode)(uint16_t);
  uint16_t (*encode)(float);
  uint16_t (*encode_double)(double);
};
const Format kFormats[] = {{"binary16", 10, -14, 15, half_to_float, float_to_half, double_to_half},
                           {"bfloat16", 7, -126, 127, bfloat_to_float, float_to_bfloat, double_to_bfloat}};

/// The value of the bits, by the definition of IEEE 754.
double value_of(const Format& format, uint16_t bits) {
  const int fraction = bits & ((1 << format.significand_bits) - 1);
  const int exponent = (bits & 0x7FFF) >> format.significand_bits;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const double part = std::ldexp(fraction, -format.significand_bits);
  if (exponent == format.largest_exponent * 2 + 1) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(part, format.smallest_exponent);
  return sign * std::ldexp(1 + part, exponent - format.largest_exponent);
}

/// The nearest value of the format, ties to even, computed in double: every step but rint is exact.
double nearest(const Format& format, double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), format.smallest_exponent);
  const double unit = std::ldexp(1.0, exponent - format.significand_bits);
  const double rounded = std::rint(value / unit) * unit;
  const double beyond = std::ldexp(1.0, format.largest_exponent + 1);
  return std::abs(rounded) >= beyond ? std::copysign(INFINITY, value) : rounded;
}

/// Equal, with the sign of zero, and NaN equal to NaN.
bool same(double left, double right) {
  if (std::isnan(left) || std::isnan(right)) return std::isnan(left) && std::isnan(right);
  return left == right && std::signbit(left) == std::signbit(right);
}

void expect_rounded(const Format& format, float value) {
  const double actual = value_of(format, format.encode(value));
  ASSERT_TRUE(same(actual, nearest(format, value)))
      << format.name << " of " << value << " is " << actual << ", expected " << nearest(format, value);
}

TEST(Half, AllValuesGoToFloatAndBack) {
  for (const Format& format : kFormats) {
    for (int bits = 0; bits <= 0xFFFF; ++bits) {
      const auto half = static_cast<uint16_t>(bits);
      const float value = format.decode(half);
      ASSERT_TRUE(same(value, value_of(format, half))) << format.name << " " << bits;
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(format.decode(format.encode(value)))) << format.name << " " << bits;
        ASSERT_EQ(format.encode(value) & 0x8000, bits & 0x8000);
      } else {
        ASSERT_EQ(format.encode(value), half) << format.name << " " << value;
        ASSERT_EQ(format.encode_double(value), half) << format.name << " " << value;
      }
    }
  }
}

TEST(Half, RoundsToNearestEvenAtAndBesideEveryTie) {
  for (const Format& format : kFormats) {
    for (int bits = 0; bits < 0x7FFF; ++bits) {
      const double low = value_of(format, static_cast<uint16_t>(bits));
      const double high = value_of(format, static_cast<uint16_t>(bits + 1));
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const auto tie = static_cast<float>((low + high) / 2);  // exact: one bit more than the format has
      for (const float value : {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, INFINITY)}) {
        expect_rounded(format, value);
        expect_rounded(format, -value);
      }
      // A double beside the tie becomes the tie as a float: one rounding, not two.
      for (const double value :
           {std::nextafter(double{tie}, 0.0), double{tie}, std::nextafter(double{tie}, INFINITY)}) {
        ASSERT_TRUE(same(value_of(format, format.encode_double(value)), nearest(format, value)))
            << format.name << " of " << value;
        ASSERT_TRUE(same(value_of(format, format.encode_double(-value)), nearest(format, -value)));
      }
    }
  }
}

TEST(Half, RoundsAnyFloatAndDouble) {
  Random random(RandomKey::from_seed(40));
  for (const Format& format : kFormats) {
    for (int round = 0; round < 300'000; ++round) {
      const float value = std::bit_cast<float>(random.next());
      if (!std::isnan(value)) expect_rounded(format, value);
      // Near the range of the format, where random bits seldom lie.
      const double near = std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(300)) - 155);
      ASSERT_TRUE(same(value_of(format, format.encode_double(near)), nearest(format, near))) << near;
    }
  }
}

TEST(Half, KnownValues) {
  EXPECT_EQ(float_to_half(1), 0x3C00);
  EXPECT_EQ(float_to_half(-2), 0xC000);
  EXPECT_EQ(float_to_half(65504), 0x7BFF);  // the largest
  EXPECT_EQ(float_to_half(65519.9f), 0x7BFF);
  EXPECT_EQ(float_to_half(65520), 0x7C00);     // the tie with what would be 65536 goes to infinity
  EXPECT_EQ(float_to_half(0x1p-24f), 0x0001);  // the smallest
  EXPECT_EQ(float_to_half(0x1p-25f), 0x0000);  // the tie with zero
  EXPECT_EQ(float_to_half(-0x1.8p-25f), 0x8001);
  EXPECT_EQ(float_to_half(NAN) & 0x7FFF, 0x7E00);
  EXPECT_EQ(float_to_bfloat(1), 0x3F80);
  EXPECT_EQ(float_to_bfloat(std::bit_cast<float>(0x7F800001u)),
            0x7FC0);  // a NaN stays one though its bits fall off
  EXPECT_EQ(float_to_bfloat(std::bit_cast<float>(0x7F7FFFFFu)), 0x7F80);
}

TEST(Half, ManyAtOnceAreTheSame) {
  std::vector<uint16_t> bits(65536);
  for (size_t n = 0; n < bits.size(); ++n) bits[n] = static_cast<uint16_t>(n);
  std::vector<float> halves(bits.size()), bfloats(bits.size());
  halves_to_floats(bits.data(), halves.data(), bits.size());
  bfloats_to_floats(bits.data(), bfloats.data(), bits.size());
  for (size_t n = 0; n < bits.size(); ++n) {
    ASSERT_TRUE(same(halves[n], half_to_float(bits[n]))) << n;
    ASSERT_TRUE(same(bfloats[n], bfloat_to_float(bits[n]))) << n;
  }
}

}  // namespace
}  // namespace heed
