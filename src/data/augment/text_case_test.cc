#include "data/augment/text_case.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(TextCase, UpperAndLowerCaseAreUnicode) {
  EXPECT_EQ(in_capitals("große Straße"), "GROSSE STRASSE");
  EXPECT_EQ(in_lower_case("ÄRGER in Łódź, Αθήνα"), "ärger in łódź, αθήνα");
}

TEST(TextCase, Uncapitalizes) {
  EXPECT_EQ(without_first_capital("Wo ist Tom?"), "wo ist Tom?");
  EXPECT_EQ(without_first_capital("¿Dónde está?"), "¿dónde está?");
  EXPECT_EQ(without_first_capital("Äpfel"), "äpfel");
  EXPECT_EQ(without_first_capital("3 Äpfel"), "3 Äpfel");
  EXPECT_EQ(without_first_capital("…"), "…");
  EXPECT_EQ(without_first_capital(""), "");
}

TEST(TextCase, EnglishTitleCase) {
  EXPECT_EQ(in_title_case("the cat on the hot tin roof"), "The Cat on the Hot Tin Roof");
  EXPECT_EQ(in_title_case("What is it for"), "What Is It For");
  EXPECT_EQ(in_title_case("(almost) \"every\" 3rd O'Neill"), "(Almost) \"Every\" 3rd O'Neill");
  EXPECT_EQ(in_title_case("one  two "), "One  Two ");
}

}  // namespace
}  // namespace heed
