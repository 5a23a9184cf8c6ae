#include "metrics/alignment_score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/error.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

template <typename Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(AlignmentScore, ReadsSureAndPossibleLinks) {
  EXPECT_THAT(parse_alignment(" 2-1 0-0  2-1 ", "f"), ElementsAre(Pair(0, 0), Pair(2, 1)));
  const GoldAlignment gold = parse_gold_alignment("0-0 1?0 1p2 1-2", "f");
  EXPECT_THAT(gold.sure, ElementsAre(Pair(0, 0), Pair(1, 2)));
  EXPECT_THAT(gold.possible, ElementsAre(Pair(0, 0), Pair(1, 0), Pair(1, 2)));
  EXPECT_TRUE(parse_gold_alignment("", "f").possible.empty());
}

TEST(AlignmentScore, RefusesMalformedLinks) {
  for (const char* bad : {"1", "1-", "-1", "1-2-3", "a-b", "1:2", "1-2x", "99999999999-1", "-1-2", "1--2"}) {
    EXPECT_THAT(message_of([&] { parse_alignment(bad, "links, line 3"); }), HasSubstr("links, line 3"))
        << bad;
  }
  EXPECT_THAT(message_of([] { parse_alignment("1?2", "f"); }), HasSubstr("'1?2'"));
  EXPECT_THAT(message_of([] {
                require_words({{0, 1}, {2, 0}}, 2, 2, "line 7");
              }),
              HasSubstr("line 7: the link 2-0"));
  EXPECT_EQ(message_of([] { require_words({{1, 1}}, 2, 2, "line 7"); }), "");
}

// S = {0-0, 1-1, 2-2, 0-1}, P = S and {2-1, 1-2}; A = {0-0, 1-1, 2-1, 3-3} and {0-1}: |A| = 5, |S| = 4,
// |A and S| = 3, |A and P| = 4. So precision 4/5, recall 3/4, F1 = 2 * 0.6 / 1.55, AER = 1 - 7/9.
TEST(AlignmentScore, MatchesManualExample) {
  AlignmentScore score;
  score.add(parse_alignment("0-0 1-1 2-1 3-3", "f"), parse_gold_alignment("0-0 1-1 2-2 2?1 1?2", "f"));
  score.add(parse_alignment("0-1", "f"), parse_gold_alignment("0-1", "f"));
  EXPECT_EQ(score.links, 5);
  EXPECT_DOUBLE_EQ(score.precision(), 0.8);
  EXPECT_DOUBLE_EQ(score.recall(), 0.75);
  EXPECT_DOUBLE_EQ(score.f1(), 1.2 / 1.55);
  EXPECT_DOUBLE_EQ(score.error_rate(), 1 - 7.0 / 9);
}

TEST(AlignmentScore, EmptyIsZero) {
  AlignmentScore score;
  score.add({}, {});
  EXPECT_EQ(score.error_rate(), 0);
  EXPECT_EQ(score.f1(), 0);
  score.add({}, parse_gold_alignment("0-0", "f"));
  EXPECT_EQ(score.error_rate(), 1);
}

}  // namespace
}  // namespace heed
