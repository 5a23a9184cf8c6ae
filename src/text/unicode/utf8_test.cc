#include "text/unicode/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/rng.h"

namespace heed {
namespace {

TEST(Utf8, ValidTextPasses) {
  for (const char* text : {"", "plain", "häßlich – “really”? 😀", "\xEF\xBF\xBD", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(find_invalid_utf8(text), std::nullopt) << text;
    EXPECT_EQ(replace_invalid_utf8(text), text);
  }
  EXPECT_EQ(find_invalid_utf8(std::string_view("a\0b", 3)), std::nullopt);
}

TEST(Utf8, OffsetOfTheFirstProblem) {
  EXPECT_EQ(find_invalid_utf8("abcdefghijklmnop\x80"), 16u);  // a stray continuation byte
  EXPECT_EQ(find_invalid_utf8("ä\xC3"), 2u);                  // cut short
  EXPECT_EQ(find_invalid_utf8("a\xC0\x80"), 1u);              // overlong
  EXPECT_EQ(find_invalid_utf8("\xE0\x9F\xBF"), 0u);           // overlong
  EXPECT_EQ(find_invalid_utf8("ab\xED\xA0\x80"), 2u);         // a surrogate
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0u);       // above U+10FFFF
  EXPECT_EQ(find_invalid_utf8("\xFF"), 0u);
}

// The example of the Unicode Standard, table 3-11.
TEST(Utf8, ReplacesMaximalSubparts) {
  EXPECT_EQ(replace_invalid_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), "\uFFFD\uFFFD\uFFFD\uFFFDA");
  EXPECT_EQ(replace_invalid_utf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA");
  EXPECT_EQ(replace_invalid_utf8("good ä \x80 end"), "good ä \uFFFD end");
}

TEST(Utf8, AnyBytesBecomeValidAndCodePointsRoundTrip) {
  Random random(RandomKey::from_seed(3));
  int invalid = 0;
  for (int n = 0; n < 2000; ++n) {
    std::string bytes(random.below(24), '\0');
    for (char& byte : bytes)
      byte = static_cast<char>(random.below(2) ? random.below(256) : random.below(128));
    invalid += find_invalid_utf8(bytes).has_value();
    const std::string valid = replace_invalid_utf8(bytes);
    EXPECT_EQ(find_invalid_utf8(valid), std::nullopt);
    std::string again;
    for (const char32_t c : utf8_to_utf32(bytes)) append_utf8(again, c);
    EXPECT_EQ(again, valid);
  }
  EXPECT_GT(invalid, 500);
}

TEST(Utf8, CharactersBeginWhereNoByteContinuesThem) {
  const std::string text = "aß€😀";  // 1, 2, 3 and 4 bytes
  const std::vector<size_t> starts{0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (size_t at = 0; at < starts.size(); ++at) EXPECT_EQ(character_start(text, at), starts[at]) << at;
  EXPECT_EQ(character_start("", 0), 0U);
  EXPECT_EQ(character_start(std::string(9, '\x80'), 8), 5U) << "no further than a character is long";
  EXPECT_EQ(count_characters(text), 4U);
  EXPECT_EQ(count_characters(""), 0U);
}

TEST(Utf8, DisplayWidth) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("für"), 3);
  EXPECT_EQ(display_width("u\u0308"), 1);  // u and a combining diaeresis
  EXPECT_EQ(display_width("我爱"), 4);
  EXPECT_EQ(display_width("한"), 2);
  EXPECT_EQ(display_width("\u1112\u1161\u11AB"), 2);  // the same syllable in three parts
  EXPECT_EQ(display_width("😀"), 2);
  EXPECT_EQ(display_width("a\u200Db"), 2);
  EXPECT_EQ(display_width("▁of"), 3);
}

}  // namespace
}  // namespace heed
