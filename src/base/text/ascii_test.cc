#include "base/text/ascii.h"

#include <gtest/gtest.h>

#include <cctype>

namespace heed {
namespace {

TEST(Ascii, AgreesWithTheCLocale) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    const auto code = static_cast<char32_t>(byte);
    EXPECT_EQ(is_ascii_digit(code), std::isdigit(byte) != 0) << byte;
    EXPECT_EQ(is_ascii_lower(code), std::islower(byte) != 0) << byte;
    EXPECT_EQ(is_ascii_upper(code), std::isupper(byte) != 0) << byte;
    EXPECT_EQ(is_ascii_letter(code), std::isalpha(byte) != 0) << byte;
    EXPECT_EQ(is_ascii_alphanumeric(code), std::isalnum(byte) != 0) << byte;
    EXPECT_EQ(ascii_lower(c), static_cast<char>(std::tolower(byte))) << byte;
    EXPECT_EQ(ascii_upper(c), static_cast<char>(std::toupper(byte))) << byte;
  }
}

TEST(Ascii, OtherScriptsAreNoLettersOfAscii) {
  for (const char32_t c : {U'ä', U'Ä', U'１', U'И'}) EXPECT_FALSE(is_ascii_alphanumeric(c));
  EXPECT_EQ(ascii_lower("ÄB-C１"), "Äb-c１");
  // A byte of a longer character is none either, though char is signed.
  for (const char c : std::string("ä１")) EXPECT_FALSE(is_ascii_alphanumeric(c));
}

}  // namespace
}  // namespace heed
