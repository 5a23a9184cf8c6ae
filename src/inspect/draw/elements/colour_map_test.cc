#include "inspect/draw/elements/colour_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace heed {
namespace {

double distance(Colour one, Colour other) {
  const auto a = to_lab(one), b = to_lab(other);
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

TEST(ColourMap, EndsMatchThePublishedMap) {
  EXPECT_EQ(level_colour(0), Colour::from_hex(0xffffff));
  EXPECT_EQ(level_colour(255), Colour::from_hex(0x08306b));
}

TEST(ColourMap, LightnessOnlyFalls) {
  for (int level = 1; level < kColourLevels; ++level) {
    EXPECT_LT(to_lab(level_colour(level))[0], to_lab(level_colour(level - 1))[0]);
  }
}

// Sixteen steps of the map are all equally long, but for the corners that a straight line between levels cuts
// and the rounding to points of the path. Evenly spaced published colours would differ twofold.
TEST(ColourMap, EqualStepsLookEqual) {
  double shortest = std::numeric_limits<double>::infinity(), longest = 0;
  for (int level = 0; level + 15 < kColourLevels; level += 15) {
    const double step = distance(level_colour(level), level_colour(level + 15));
    shortest = std::min(shortest, step);
    longest = std::max(longest, step);
  }
  EXPECT_LT(longest / shortest, 1.15);
}

TEST(ColourMap, LevelsOfValues) {
  EXPECT_EQ(colour_level(0), 0);
  EXPECT_EQ(colour_level(1), 255);
  EXPECT_EQ(colour_level(-3), 0);
  EXPECT_EQ(colour_level(1.5), 255);
  EXPECT_EQ(colour_level(0.5), 128);
}

TEST(Lab, KnownValues) {  // of sRGB's primaries under D65, to the digits usually printed
  const auto red = to_lab({1, 0, 0});
  EXPECT_NEAR(red[0], 53.24, 0.02);
  EXPECT_NEAR(red[1], 80.09, 0.05);
  EXPECT_NEAR(red[2], 67.20, 0.05);
  EXPECT_NEAR(to_lab({1, 1, 1})[0], 100, 1e-6);
}

// Web Content Accessibility Guidelines 2.1 ask 4.5 for text; contrast of luminances with the 0.05 of stray
// light.
TEST(Ink, CanBeReadOnEveryColour) {
  const auto luminance = [](Colour colour) {
    const double f = (to_lab(colour)[0] + 16) / 116;
    return f > 6.0 / 29 ? f * f * f : to_lab(colour)[0] * 27 / 24389;
  };
  for (int level = 0; level < kColourLevels; ++level) {
    const Colour paper = level_colour(level);
    const double one = luminance(paper) + 0.05, other = luminance(ink_on(paper)) + 0.05;
    EXPECT_GT(std::max(one, other) / std::min(one, other), 4.5) << level;
  }
}

}  // namespace
}  // namespace heed
