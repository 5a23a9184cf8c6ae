#include "text/unicode/true_case.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(TrueCase, TextInCapitals) {
  for (const char* text : {"DER HUND", "DAS IST 1 HAUS!", "ÄRGER BEI ВСЁ"})
    EXPECT_TRUE(is_all_capitals(text)) << text;
  for (const char* text : {"DER Hund", "HUND", "A B C", "", "DER HUNd"})
    EXPECT_FALSE(is_all_capitals(text)) << text;
}

TEST(TrueCase, LettersWithoutCaseAreNoCapitals) {
  for (const char* text : {"IT部門の会議は9時です。", "JRの東日本", "TV를 본다", "AIとITの話です"}) {
    EXPECT_FALSE(is_all_capitals(text)) << text;
  }
  EXPECT_TRUE(is_all_capitals("USA AND EU 日本"));
}

}  // namespace
}  // namespace heed
