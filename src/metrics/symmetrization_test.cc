#include "metrics/symmetrization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_folder.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::Pair;

// In both: 0-0 and 3-3. In one: 1-0 (beside 0-0, source word 1 has no link yet), 1-1 (beside it, target word
// 1 has none), 5-5 and 5-6 (far from all others), 3-0 (both words have links).
const std::vector<WordLink> kForward{{0, 0}, {1, 1}, {3, 3}, {5, 5}};
const std::vector<WordLink> kBackward{{3, 3}, {0, 0}, {1, 0}, {5, 6}, {3, 0}};

TEST(Symmetrization, IntersectionAndUnion) {
  EXPECT_THAT(symmetrize(kForward, kBackward, Symmetrization::kIntersection),
              ElementsAre(Pair(0, 0), Pair(3, 3)));
  EXPECT_THAT(
      symmetrize(kForward, kBackward, Symmetrization::kUnion),
      ElementsAre(Pair(0, 0), Pair(1, 0), Pair(1, 1), Pair(3, 0), Pair(3, 3), Pair(5, 5), Pair(5, 6)));
}

TEST(Symmetrization, GrowsFromTheIntersection) {
  EXPECT_THAT(symmetrize(kForward, kBackward, Symmetrization::kGrowDiag),
              ElementsAre(Pair(0, 0), Pair(1, 0), Pair(1, 1), Pair(3, 3)));
  // 5-5 joins two unaligned words; then 5 has a link, and 5-6 does not.
  EXPECT_THAT(symmetrize(kForward, kBackward, Symmetrization::kGrowDiagFinalAnd),
              ElementsAre(Pair(0, 0), Pair(1, 0), Pair(1, 1), Pair(3, 3), Pair(5, 5)));
}

// A diagonal neighbour that came first would leave 0-1 no unaligned word.
TEST(Symmetrization, AddsNeighboursToTheSidesFirst) {
  EXPECT_THAT(symmetrize({{0, 0}, {1, 1}}, {{0, 0}, {0, 1}}, Symmetrization::kGrowDiag),
              ElementsAre(Pair(0, 0), Pair(0, 1), Pair(1, 1)));
}

TEST(Symmetrization, Empty) {
  for (const char* name : {"intersection", "union", "grow-diag", "grow-diag-final-and"}) {
    EXPECT_TRUE(symmetrize({}, {}, parse_symmetrization(name)).empty());
  }
  EXPECT_TRUE(symmetrize({{0, 0}}, {}, Symmetrization::kGrowDiag).empty());
  expect_error(ErrorKind::kUsage, "grow-diag-final-and", [] { parse_symmetrization("diag"); });
}

}  // namespace
}  // namespace heed
