#include "translate/parts/term_placement.h"

#include <gtest/gtest.h>

#include "translate/words/word_alignment.h"

namespace heed::translate {
namespace {

// Five target tokens: two of word 0, word 1, a mark, and the end; three source tokens.
const SoftAlignment kAlignment{5,
                               3,
                               {0.1F, 0.8F, 0.1F,  //
                                0.2F, 0.6F, 0.2F,  //
                                0.7F, 0.1F, 0.2F,  //
                                0.0F, 1.0F, 0.0F,  //
                                0.1F, 0.1F, 0.8F}};
const std::vector<int> kWords{0, 0, 1, kMark, kNoWord};

TEST(AlignedWords, AreThoseThatAttendToTheTerm) {
  const auto second = aligned_words(kAlignment, {false, true, false}, kWords);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->begin, 0u);
  EXPECT_EQ(second->end, 2u);
  const auto both = aligned_words(kAlignment, {true, true, false}, kWords);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->begin, 0u);
  EXPECT_EQ(both->end, 3u);
}

TEST(AlignedWords, AreNoneIfNoWordAttendsToTheTerm) {
  EXPECT_FALSE(aligned_words({1, 2, {0.9F, 0.1F}}, {false, true}, {0}));
  EXPECT_FALSE(aligned_words(kAlignment, {false, true, false}, {kMark, kMark, kMark, kMark, kNoWord}));
}

}  // namespace
}  // namespace heed::translate
