#include "text/unicode/whitespace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed {
namespace {

// What Python's str.isspace() says true to, all of it (checked over every code point with Python 3.11).
TEST(Whitespace, AgreesWithPython) {
  int count = 0;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) count += is_whitespace(c);
  EXPECT_EQ(count, 29);
  for (const char32_t c : {0x09, 0x0D, 0x1C, 0x1F, 0x20, 0x85, 0xA0, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029,
                           0x202F, 0x205F, 0x3000}) {
    EXPECT_TRUE(is_whitespace(c)) << static_cast<int>(c);
  }
  EXPECT_FALSE(is_whitespace(0x200B));  // a zero-width space is none
  EXPECT_FALSE(is_whitespace(0x180E));
}

TEST(Whitespace, StripAndSplit) {
  EXPECT_EQ(strip(" \u3000a b\u00A0\n"), "a b");
  EXPECT_EQ(strip_right(" a \x1F"), " a");
  EXPECT_EQ(strip_right("ü\u3000\u00A0\u2028"), "ü");
  EXPECT_EQ(strip_right("ü"), "ü");
  EXPECT_EQ(strip_right("\U0001F600 "), "\U0001F600");
  EXPECT_EQ(strip_right("a \x80\x80"), "a \x80\x80");  // no characters
  EXPECT_EQ(strip(" \t "), "");
  EXPECT_THAT(split_whitespace(" a  bc\u2003d "), testing::ElementsAre("a", "bc", "d"));
  EXPECT_TRUE(split_whitespace(" \u2028").empty());
}

}  // namespace
}  // namespace heed
