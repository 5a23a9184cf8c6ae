#include "text/terms/required_forms.h"

#include <gmock/gmock.h>

namespace heed {
namespace {

TEST(RequiredForms, SplitAtBars) {
  EXPECT_THAT(split_forms(" 3 pm|3 p.m. | |15:00"), testing::ElementsAre("3 pm", "3 p.m.", "15:00"));
  EXPECT_THAT(split_forms(""), testing::IsEmpty());
}

TEST(RequiredForms, MatchWholeForms) {
  EXPECT_TRUE(contains_form("It costs €19.99.", "19.99"));
  EXPECT_TRUE(contains_form("at 5.", "5"));
  EXPECT_TRUE(contains_form("5%, then 6", "5"));
  EXPECT_TRUE(contains_form("15 or 5", "5"));  // the second one
  EXPECT_TRUE(contains_form("See https://example.org/a?b=1.", "https://example.org/a?b=1"));
  EXPECT_FALSE(contains_form("It costs 119.99.", "19.99"));
  EXPECT_FALSE(contains_form("It costs 19.995.", "19.99"));
  for (const char* text : {"15", "5.5", "1,5", "5:30", "5,000", "5th", "x5"}) {
    EXPECT_FALSE(contains_form(text, "5")) << text;
  }
  EXPECT_FALSE(contains_form("The Wronas are here.", "Wrona"));
  EXPECT_TRUE(contains_form("Wrona's house", "Wrona"));
  EXPECT_FALSE(contains_form("", "5"));
}

}  // namespace
}  // namespace heed
