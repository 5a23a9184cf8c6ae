#include "base/text/printable.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Shown, IsShortAndPrintable) {
  EXPECT_EQ(shown("größe"), "größe");
  EXPECT_EQ(shown("a\n\x1b[31m\x7f"), "a\\x0a\\x1b[31m\\x7f");
  EXPECT_EQ(shown("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(shown("\xc0\x80\xed\xa0\x80"), "\\xc0\\x80\\xed\\xa0\\x80");  // overlong, surrogate
  EXPECT_EQ(shown("\xf0\x9f\x99\x82\xf4\x90\x80\x80"), "\xf0\x9f\x99\x82\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(shown("123456", 5), "12345...");
  EXPECT_EQ(shown("12345", 5), "12345");
}

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(printable("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable("a\u0085b\u009bc\u00a0d"), "a\\u{0085}b\\u{009b}c\u00a0d");
  EXPECT_EQ(printable("x\u202ecod.exe"), "x\\u{202e}cod.exe");
  EXPECT_EQ(printable("\u2066\u2069\u200f\u061c\ufeff\u2028"),
            "\\u{2066}\\u{2069}\\u{200f}\\u{061c}\\u{feff}\\u{2028}");
  // Joiners belong to words of many scripts and to emoji.
  EXPECT_EQ(printable("\u200d\u200c\u0628\U0001F642"), "\u200d\u200c\u0628\U0001F642");
  const std::string text(1000, 'x');
  EXPECT_EQ(printable(text), text);
}

}  // namespace
}  // namespace heed
