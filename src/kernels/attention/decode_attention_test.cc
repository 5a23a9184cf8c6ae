// Decode attention with keys and values in float16.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/simd/test_isas.h"
#include "kernels/simd/test_numbers.h"
#include "tensor/half.h"

namespace heed {
namespace {

std::vector<uint16_t> to_halves(const std::vector<float>& floats) {
  std::vector<uint16_t> halves(floats.size());
  floats_to_halves(floats.data(), static_cast<int64_t>(floats.size()), halves.data());
  return halves;
}

TEST(FloatsToHalves, RoundsToTheNearestOnEveryInstructionSet) {
  std::vector<float> floats = normal<float>(203, 1);
  for (const float each : {0.0F, -0.0F, 65504.0F, 65519.0F, 1e-8F, -6e-8F, 1.00048828125F, 2049.0F}) {
    floats.push_back(each);
  }
  on_every_isa([&](const std::string& isa) {
    const std::vector<uint16_t> halves = to_halves(floats);
    for (size_t i = 0; i < floats.size(); ++i) {
      ASSERT_EQ(halves[i], float_to_half(floats[i])) << isa << ", of " << floats[i];
    }
  });
}

TEST(FloatsToHalves, ClampsToTheLargestFiniteNumber) {
  const std::vector<float> floats{1e6F, -1e6F, 65520.0F, std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity()};
  on_every_isa([&](const std::string& isa) {
    const std::vector<uint16_t> halves = to_halves(floats);
    for (size_t i = 0; i < floats.size(); ++i) {
      EXPECT_EQ(half_to_float(halves[i]), std::copysign(65504.0F, floats[i])) << isa;
    }
  });
}

TEST(FloatsToHalves, NanStaysNan) {
  const std::vector<float> floats(17, std::numeric_limits<float>::quiet_NaN());
  on_every_isa([&](const std::string& isa) {
    for (const uint16_t half : to_halves(floats)) EXPECT_TRUE(std::isnan(half_to_float(half))) << isa;
  });
}

// Bit for bit that of the same numbers in float32.
TEST(DecodeAttention, WithFloat16IsThatOfTheRoundedNumbers) {
  constexpr int64_t kRows = 23;
  for (const bool grouped : {false, true}) {
    const int heads = grouped ? 8 : 3, shared = grouped ? 2 : 3;
    for (const int64_t width : {3, 8, 16, 21, 32, 40}) {
      const std::vector<float> query = normal<float>(2 * heads * width, 1);
      const std::vector<uint16_t> key = to_halves(normal<float>(kRows * shared * width, 2)),
                                  value = to_halves(normal<float>(kRows * shared * width, 3));
      std::vector<float> rounded_key(key.size()), rounded_value(value.size());
      halves_to_floats(key.data(), rounded_key.data(), key.size());
      halves_to_floats(value.data(), rounded_value.data(), value.size());
      const std::vector<AttentionSpan> spans{{0, 1, 0, 4, 0}, {1, 2, 4, 11, 4}};
      const std::vector<int32_t> rows{5, 22, 0, 7, 1, 2, 21, 5, 5, 19, 10};
      for (const bool anywhere : {false, true}) {
        on_every_isa([&](const std::string& isa) {
          std::vector<float> expected(query.size()), actual(query.size());
          AttentionArguments<float> a{.spans = spans.data(),
                                      .span_count = static_cast<int64_t>(spans.size()),
                                      .heads = heads,
                                      .key_value_heads = shared,
                                      .key_width = width,
                                      .value_width = width,
                                      .scale = 0.3F,
                                      .dropout = {},
                                      .query = query.data(),
                                      .key = rounded_key.data(),
                                      .value = rounded_value.data(),
                                      .query_stride = heads * width,
                                      .key_stride = shared * width,
                                      .value_stride = shared * width,
                                      .key_rows = anywhere ? rows.data() : nullptr,
                                      .output = expected.data(),
                                      .output_stride = heads * width};
          attention(a);
          a.key = a.value = nullptr;
          a.output = actual.data();
          attention(a, {key.data(), value.data(), shared * width, shared * width});
          EXPECT_EQ(actual, expected) << isa << ", width " << width << ", " << heads << " heads";
        });
      }
    }
  }
}

// Every float16 number, as the value of a single key, whose weight is 1.
TEST(DecodeAttention, ReadsEveryFloat16Number) {
  std::vector<uint16_t> value(1 << 16);
  std::iota(value.begin(), value.end(), uint16_t{0});
  const auto width = static_cast<int64_t>(value.size());
  const std::vector<float> query{0};
  const std::vector<uint16_t> key{0};
  const AttentionSpan span{0, 1, 0, 1, 0};
  on_every_isa([&](const std::string& isa) {
    std::vector<float> output(value.size());
    attention(AttentionArguments<float>{.spans = &span,
                                        .span_count = 1,
                                        .heads = 1,
                                        .key_width = 1,
                                        .value_width = width,
                                        .scale = 1,
                                        .dropout = {},
                                        .query = query.data(),
                                        .query_stride = 1,
                                        .output = output.data(),
                                        .output_stride = width},
              {key.data(), value.data(), 1, width});
    for (size_t i = 0; i < value.size(); ++i) {
      const float expected = half_to_float(value[i]);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(output[i])) << isa << ", of " << value[i];
      } else {
        ASSERT_EQ(output[i], expected) << isa << ", of " << value[i];
      }
    }
  });
}

}  // namespace
}  // namespace heed
