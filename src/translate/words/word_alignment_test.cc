#include "translate/words/word_alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed::translate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(WordAlignment, LinksWordsByAttention) {
  // Three target tokens, two words: the second and third token are one. Four source tokens: three words, the
  // end.
  const SoftAlignment soft{3,
                           4,
                           {0.5F, 0.3F, 0.05F, 0.15F,  //
                            0.1F, 0.15F, 0.7F, 0.05F,  //
                            0.0F, 0.15F, 0.8F, 0.05F}};
  EXPECT_THAT(word_alignment(soft, {0, 1, 2, kNoWord}, {0, 1, 1}), ElementsAre(Pair(0, 0), Pair(2, 1)));
  // Punctuation and tokens outside words are skipped.
  EXPECT_THAT(word_alignment(soft, {0, 1, kMark, kNoWord}, {0, 1, 1}), ElementsAre(Pair(0, 0), Pair(1, 1)));
  EXPECT_THAT(word_alignment(soft, {0, 1, 2, kNoWord}, {kMark, 0, kNoWord}), ElementsAre(Pair(2, 0)));
  EXPECT_THAT(word_alignment(soft, {0, 1, 2, kNoWord}, {kNoWord, kNoWord, kNoWord}), IsEmpty());
  EXPECT_THAT(word_alignment(soft, {kNoWord, kMark, kNoWord, kNoWord}, {0, 1, 2}), IsEmpty());
  EXPECT_EQ(to_pharaoh({{0, 0}, {2, 1}}), "0-0 2-1");
}

TEST(WordAlignment, DiscountsCommonlyAttendedTokens) {
  // Source 1 has the most weight of both; of source 0 the first has nearly all.
  const SoftAlignment soft{2, 2, {0.4F, 0.6F, 0.02F, 0.98F}};
  EXPECT_THAT(word_alignment(soft, {0, 1}, {0, 1}), ElementsAre(Pair(0, 0), Pair(1, 1)));
}

TEST(WordAlignment, WordsThatAttendToTheEndAreUnlinked) {
  const SoftAlignment soft{2, 2, {0.9F, 0.1F, 0.1F, 0.9F}};
  EXPECT_THAT(word_alignment(soft, {0, kNoWord}, {0, 1}), ElementsAre(Pair(0, 0)));
  EXPECT_THAT(word_alignment(soft, {0, 1}, {0, 1}), ElementsAre(Pair(0, 0), Pair(1, 1)));
}

// Target word 2 looks at source words 0 and 3 alike; the neighbours are linked to 2 and 4.
TEST(WordAlignment, NeighboursBreakTies) {
  const SoftAlignment soft{3,
                           5,
                           {0.0F, 0.0F, 1.0F, 0.0F, 0.0F,  //
                            0.5F, 0.0F, 0.0F, 0.5F, 0.0F,  //
                            0.0F, 0.0F, 0.0F, 0.0F, 1.0F}};
  EXPECT_THAT(word_alignment(soft, {0, 1, 2, 3, 4}, {0, 1, 2}),
              ElementsAre(Pair(2, 0), Pair(3, 1), Pair(4, 2)));
  EXPECT_THAT(word_alignment(soft, {3, 1, 2, 0, 4}, {0, 1, 2}),
              ElementsAre(Pair(2, 0), Pair(3, 1), Pair(4, 2)));
}

TEST(WordAlignment, WordsOfSpans) {
  const std::string text = " One two  three";
  const std::vector<std::pair<size_t, size_t>> spans{{0, 3}, {3, 4}, {4, 8}, {8, 9}, {9, 15}, {15, 15}};
  // A white-space token does not count for the following word.
  EXPECT_THAT(words_of_spans(text, spans), ElementsAre(0, 0, 1, kMark, 2, kNoWord));
  EXPECT_THAT(words_of_spans("", {{0, 0}}), ElementsAre(kNoWord));
  // The full stop of "dog." belongs to the word but does not count; a separate dash is a word.
  EXPECT_THAT(words_of_spans("dog. – 7%", {{0, 3}, {3, 4}, {4, 8}, {8, 10}, {10, 11}, {11, 11}}),
              ElementsAre(0, kMark, 1, 2, kMark, kNoWord));
}

TEST(WordAlignment, WordsOfPieces) {
  const std::vector<std::string> pieces{"▁He", "llo", "▁", ",", "▁you", "<unk>", ".", "▁", "</s>"};
  const std::vector<bool> special{false, false, false, false, false, true, false, false, true};
  EXPECT_THAT(words_of_pieces(pieces, special), ElementsAre(0, 0, 1, 1, 2, kNoWord, kMark, kNoWord, kNoWord));
  EXPECT_THAT(words_of_pieces({"a", "▁b"}, {false, false}), ElementsAre(0, 1));
}

}  // namespace
}  // namespace heed::translate
