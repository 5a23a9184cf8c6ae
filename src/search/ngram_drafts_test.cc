#include "search/ngram_drafts.h"

#include <gtest/gtest.h>

namespace heed::search {
namespace {

NgramDrafts after(const std::vector<int32_t>& text, int most = 4) {
  NgramDrafts drafts(most);
  for (const int32_t id : text) drafts.append(id);
  return drafts;
}

TEST(NgramDrafts, AreWhatFollowedTheLastTokensBefore) {
  EXPECT_EQ(after({1, 2, 3, 4, 5, 6, 7, 1, 2, 3}).next(), (std::vector<int32_t>{4, 5, 6, 7}));
  EXPECT_EQ(after({1, 2, 3, 4, 5, 6, 7, 1, 2, 3}, 2).next(), (std::vector<int32_t>{4, 5}));
  EXPECT_EQ(after({1, 2, 3, 4, 9, 1, 2, 3, 5, 9, 1, 2, 3}).next(), (std::vector<int32_t>{5, 9, 1, 2}))
      << "the last occurrence counts";
  EXPECT_EQ(after({8, 8, 8, 8}).next(), (std::vector<int32_t>{8})) << "up to the end of the text";
}

TEST(NgramDrafts, StayWithinTheRoom) {
  EXPECT_EQ(after({1, 2, 3, 4, 5, 6, 7, 1, 2, 3}).next(2), (std::vector<int32_t>{4, 5}));
  EXPECT_TRUE(after({1, 2, 3, 4, 5, 6, 7, 1, 2, 3}).next(0).empty());
}

TEST(NgramDrafts, NoneWithoutARepetition) {
  EXPECT_TRUE(after({1, 2, 3, 4, 5}).next().empty());
  EXPECT_TRUE(after({1, 2, 1, 2}).next().empty()) << "two tokens are too few";
  EXPECT_TRUE(after({}).next().empty());
  EXPECT_TRUE(after({1, 2, 3, 4, 1, 2, 3}, 0).next().empty());
}

TEST(NgramDrafts, FailuresMakeThemRare) {
  NgramDrafts drafts = after({1, 2, 3, 4, 1, 2, 3});
  int made = 0;
  for (int step = 0; step < 1000; ++step) {
    if (!drafts.next().empty()) ++made;
    drafts.report(0);
  }
  EXPECT_GT(made, 10);
  EXPECT_LT(made, 25);
  drafts.report(0);
  while (drafts.next().empty()) drafts.report(0);
  drafts.report(1);
  EXPECT_FALSE(drafts.next().empty()) << "a right one ends the wait";
}

}  // namespace
}  // namespace heed::search
