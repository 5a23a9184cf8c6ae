#include "text/subword_lattice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "heed/error.h"

namespace heed {
namespace {

std::string spell(const std::vector<SubwordLattice::Segment>& segments, std::string_view text) {
  std::string spelt;
  for (const auto& cut : segments) {
    if (!spelt.empty()) spelt += '|';
    spelt += text.substr(cut.begin, cut.end - cut.begin);
  }
  return spelt;
}

TEST(SubwordLattice, SamplesByProbability) {
  const SubwordLattice lattice({{"b", std::log(0.2f), 1},
                                {"a", std::log(0.4f), 0},
                                {"ab", std::log(0.1f), 2},
                                {"ba", std::log(0.2f), 3},
                                {"c", std::log(0.1f), 4}});
  for (const double alpha : {1.0, 0.5, 0.0}) {
    // The segments of "aba" and their probabilities.
    std::map<std::string, double> weights{
        {"a|b|a", 0.4 * 0.2 * 0.4}, {"ab|a", 0.1 * 0.4}, {"a|ba", 0.4 * 0.2}};
    double sum = 0;
    for (auto& [cut, weight] : weights) sum += weight = std::pow(weight, alpha);
    Random random(RandomKey::from_seed(7));
    std::map<std::string, int> seen;
    constexpr int kDraws = 4000;
    for (int n = 0; n < kDraws; ++n) ++seen[spell(lattice.sample("aba", alpha, random), "aba")];
    ASSERT_EQ(seen.size(), weights.size());
    for (const auto& [cut, weight] : weights) {
      const double p = weight / sum;
      EXPECT_NEAR(seen[cut], kDraws * p, 5 * std::sqrt(kDraws * p * (1 - p))) << cut << " alpha " << alpha;
    }
  }
}

TEST(SubwordLattice, ReturnsEntryIndices) {
  const SubwordLattice lattice({{"ä", -1, 7}, {"äö", -1, 9}});
  Random random(RandomKey::from_seed(1));
  const auto segments = lattice.sample("äöä", 1, random);
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].number, 9);
  EXPECT_EQ(segments[1].number, 7);
  EXPECT_EQ(segments[1].begin, 4u);
  EXPECT_TRUE(lattice.sample("äx", 1, random).empty()) << "no entry spells x";
  EXPECT_TRUE(lattice.sample("", 1, random).empty());
}

TEST(SubwordLattice, RefusesDuplicateEntries) {
  EXPECT_THROW(SubwordLattice({{"a", -1, 0}, {"a", -2, 1}}), Error);
  EXPECT_THROW(SubwordLattice({{"", -1, 0}}), Error);
}

}  // namespace
}  // namespace heed
