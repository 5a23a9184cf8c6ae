#include "base/text/nearest_word.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("gelu", "geul"), 1u);
  EXPECT_EQ(edit_distance("abcd", "badc"), 2u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);  // the restricted distance edits no part twice
}

TEST(NearestWord, FindsOnlyWhatIsNear) {
  const std::vector<std::string> words = {"relu", "gelu", "silu"};
  EXPECT_EQ(nearest_word("gleu", words), "gelu");
  EXPECT_EQ(nearest_word("rellu", words), "relu");
  EXPECT_EQ(nearest_word("tanh", words), "");
  EXPECT_EQ(nearest_word("elu", words), "relu");  // the earlier of two at the same distance
  EXPECT_EQ(nearest_word(std::string(100'000, 'x'), {std::string(100'000, 'x')}), "");
  EXPECT_EQ(did_you_mean("gleu", words), "; did you mean 'gelu'?");
  EXPECT_EQ(did_you_mean("tanh", words), "");
}

}  // namespace
}  // namespace heed
