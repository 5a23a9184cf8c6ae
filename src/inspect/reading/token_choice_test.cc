#include "inspect/reading/token_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/error.h"

namespace heed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kTokens{"▁the", "▁dog", "and", "▁the", "9", "</s>"};

std::string error_of(const std::string& wanted) {
  try {
    choose_token(wanted, kTokens);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TokenChoice, FindsPositionsNamesAndOccurrences) {
  EXPECT_EQ(choose_token("2", kTokens).index, 1U);
  EXPECT_EQ(choose_token("dog", kTokens).index, 1U);
  EXPECT_EQ(choose_token("▁dog", kTokens).index, 1U);
  EXPECT_EQ(choose_token("and", kTokens).index, 2U);
  EXPECT_EQ(choose_token("9", kTokens).index, 4U);  // no position, so a name
  EXPECT_EQ(choose_token("the:2", kTokens).index, 3U);
  EXPECT_EQ(choose_token("</s>", kTokens).index, 5U);
}

TEST(TokenChoice, NamesakesAreOfNamesAlone) {
  EXPECT_THAT(choose_token("the", kTokens).namesakes, ElementsAre(0, 3));
  EXPECT_THAT(choose_token("the:1", kTokens).namesakes, ElementsAre());
  EXPECT_THAT(choose_token("1", kTokens).namesakes, ElementsAre());
}

TEST(TokenChoice, ErrorsListTheTokens) {
  EXPECT_THAT(error_of("0"), HasSubstr("its number from 1 to 6: ▁the ▁dog and"));
  EXPECT_THAT(error_of("▁and"), HasSubstr("no token '▁and'"));
  EXPECT_THAT(error_of("the:3"), HasSubstr("'the' occurs 2 times"));
  EXPECT_THAT(error_of(""), HasSubstr("no token ''"));
}

TEST(TokenChoice, NamesOfOtherOccurrencesNameAToken) {
  EXPECT_TRUE(names_a_token("6", kTokens));
  EXPECT_TRUE(names_a_token("the:3", kTokens));
  EXPECT_FALSE(names_a_token("7", kTokens));
  EXPECT_FALSE(names_a_token("cat", kTokens));
}

}  // namespace
}  // namespace heed
