#include "inspect/draw/elements/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "heed/error.h"

namespace heed {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> found;
  for (const Tick& tick : axis.ticks()) found.push_back(tick.label);
  return found;
}

TEST(Axis, RoundNumbers) {
  EXPECT_THAT(labels(Axis(0, 1, 5)), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1"));
  EXPECT_THAT(labels(Axis(0.013, 0.237, 5)), ElementsAre("0", "0.05", "0.1", "0.15", "0.2", "0.25"));
  EXPECT_THAT(labels(Axis(-7, 13, 4)), ElementsAre("-10", "-5", "0", "5", "10", "15"));
  EXPECT_THAT(labels(Axis(1, 20000, 4, AxisScale::kLinear, false)), ElementsAre("5k", "10k", "15k", "20k"));
  EXPECT_THAT(labels(Axis(0, 2.5e6, 5)), ElementsAre("0", "500k", "1M", "1.5M", "2M", "2.5M"));
}

TEST(Axis, DifferentTicksHaveDifferentLabels) {
  EXPECT_THAT(labels(Axis(1e6, 1e6 + 0.004, 4)),
              ElementsAre("1000000", "1000000.001", "1000000.002", "1000000.003", "1000000.004"));
  EXPECT_THAT(labels(Axis(5e-5, 5.0004e-5, 4)),
              ElementsAre("5e-05", "5.0001e-05", "5.0002e-05", "5.0003e-05", "5.0004e-05"));
  EXPECT_THAT(labels(Axis(2e6, 2.0004e6, 4)),
              ElementsAre("2000k", "2000.1k", "2000.2k", "2000.3k", "2000.4k"));
  for (const auto& [low, high] : {std::pair{1e6, 1e6 + 9e-3}, std::pair{1.0, 1 + 1e-8},
                                  std::pair{3e-4, 3e-4 + 1e-12}, std::pair{1e18, 1e18 + 1e10}}) {
    std::vector<std::string> found = labels(Axis(low, high, 5));
    std::ranges::sort(found);
    EXPECT_TRUE(std::ranges::adjacent_find(found) == found.end()) << low << " " << high;
  }
}

TEST(Axis, Logarithmic) {
  EXPECT_THAT(labels(Axis(3, 700, 3, AxisScale::kLogarithmic)), ElementsAre("1", "10", "100", "1000"));
  EXPECT_THAT(labels(Axis(1.2, 8, 5, AxisScale::kLogarithmic)), ElementsAre("1", "2", "5", "10"));
  const Axis axis(1, 100, 4, AxisScale::kLogarithmic);
  EXPECT_NEAR(axis.position(10), 0.5, 1e-12);
}

TEST(Axis, CoversItsRange) {
  for (const auto& [low, high] :
       {std::pair{0.0, 0.0}, std::pair{5.0, 5.0}, std::pair{-1e-9, 1e9}, std::pair{1e-12, 3e-12},
        std::pair{-5.0, -5.0}, std::pair{1e6, 1e6 + 1e-3}, std::pair{1e300, 1e300}}) {
    for (const bool widen : {false, true}) {
      const Axis axis(low, high, 5, AxisScale::kLinear, widen);
      EXPECT_GE(axis.position(low), -1e-9);
      EXPECT_LE(axis.position(high), 1 + 1e-9);
      EXPECT_LE(axis.ticks().size(), 20U);
      for (const Tick& tick : axis.ticks()) {
        EXPECT_GE(axis.position(tick.value), -1e-6) << low << " " << high;
        EXPECT_LE(axis.position(tick.value), 1 + 1e-6) << low << " " << high;
      }
    }
  }
}

TEST(Axis, RefusesWhatCannotBeDrawn) {
  EXPECT_THROW(Axis(0, std::numeric_limits<double>::infinity(), 5), Error);
  EXPECT_THROW(Axis(std::nan(""), 1, 5), Error);
  EXPECT_THROW(Axis(0, 1, 5, AxisScale::kLogarithmic), Error);
}

}  // namespace
}  // namespace heed
