#include "kernels/pointwise/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/simd/isa.h"

namespace heed {
namespace {

template <typename T>
std::vector<T> mask_of(const DropoutStream& stream, int64_t size) {
  const std::vector<T> ones(static_cast<size_t>(size), T{1});
  std::vector<T> mask(static_cast<size_t>(size));
  dropout({.stream = stream, .size = size, .x = ones.data(), .residual = nullptr, .y = mask.data()});
  return mask;
}

/// The definition, one element at a time: 16 of the bits that base/rng.h gives for a counter.
bool is_kept(const DropoutStream& stream, uint64_t element) {
  const uint64_t block = element / 128, at = element % 128;
  const auto words = philox(stream.key, block * 16 + at % 16);
  const uint64_t half = at / 16;  // of the eight halves of four words
  const uint32_t bits = half % 2 == 0 ? words[half / 2] & 0xFFFFu : words[half / 2] >> 16;
  return bits >= stream.threshold;
}

TEST(Dropout, DrawsTheNumbersOfPhiloxOnEveryInstructionSet) {
  const std::string before = isa_name();
  for (const std::string& isa : available_isas()) {
    force_isa(isa);
    for (const double probability : {0.001, 0.1, 0.5, 0.9}) {
      const DropoutStream stream(RandomKey::from_seed(42).fold(7), probability);
      const auto mask = mask_of<float>(stream, 1000);
      const auto wide = mask_of<double>(stream, 1000);
      for (size_t i = 0; i < mask.size(); ++i) {
        ASSERT_EQ(mask[i], is_kept(stream, i) ? static_cast<float>(stream.scale()) : 0.0f)
            << isa << ", element " << i;
        ASSERT_EQ(wide[i], is_kept(stream, i) ? stream.scale() : 0.0) << isa << ", element " << i;
      }
    }
  }
  force_isa(before);
}

TEST(Dropout, KeepsAsManyAsItSays) {
  constexpr int64_t kSize = 1 << 17;
  for (const double probability : {0.01, 0.1, 0.3, 0.5, 0.9}) {
    const DropoutStream stream(RandomKey::from_seed(5), probability);
    int64_t kept = 0;
    double sum = 0;
    for (const float factor : mask_of<float>(stream, kSize)) {
      kept += factor != 0 ? 1 : 0;
      sum += static_cast<double>(factor);
    }
    // Five standard deviations of a binomial distribution: one in two million seeds would fail.
    const double deviation = std::sqrt(static_cast<double>(kSize) * probability * (1 - probability));
    EXPECT_NEAR(static_cast<double>(kept), static_cast<double>(kSize) * (1 - probability), 5 * deviation);
    EXPECT_NEAR(sum / kSize, 1, 5 * deviation / (1 - probability) / kSize) << "the mean is not kept";
  }
}

TEST(Dropout, StreamsDiffer) {
  const RandomKey key = RandomKey::from_seed(1);
  const auto mask = mask_of<float>({key.fold(0), 0.5}, 512);
  EXPECT_EQ(mask, mask_of<float>({key.fold(0), 0.5}, 512));
  EXPECT_NE(mask, mask_of<float>({key.fold(1), 0.5}, 512));
  EXPECT_NE(mask, mask_of<float>({RandomKey::from_seed(2).fold(0), 0.5}, 512));
}

TEST(Dropout, AddsTheResidual) {
  const DropoutStream stream(RandomKey::from_seed(3), 0.25);
  const std::vector<double> x{1, 2, 3, 4, 5}, residual{10, 20, 30, 40, 50};
  std::vector<double> y(5);
  dropout({.stream = stream, .size = 5, .x = x.data(), .residual = residual.data(), .y = y.data()});
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(y[i], residual[i] + (is_kept(stream, i) ? x[i] * stream.scale() : 0));
}

TEST(DropoutStream, ProbabilityZeroIsOff) {
  EXPECT_FALSE(DropoutStream().active());
  EXPECT_FALSE(DropoutStream(RandomKey::from_seed(1), 0).active());
  EXPECT_TRUE(DropoutStream(RandomKey::from_seed(1), 0.1).active());
  EXPECT_EQ(DropoutStream(RandomKey::from_seed(1), 0.5).scale(), 2);
}

}  // namespace
}  // namespace heed
