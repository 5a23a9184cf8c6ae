#include "base/text/base64.h"

#include <gtest/gtest.h>

#include <string_view>

namespace heed {
namespace {

std::string encoded(std::string_view text) {
  return to_base64(text.data(), text.size());
}

// The test vectors of RFC 4648, section 10.
TEST(Base64, PadsToGroupsOfFour) {
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foob"), "Zm9vYg==");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
}

TEST(Base64, HasEveryDigit) {
  EXPECT_EQ(encoded("\xff\xef\xbe\xfb"), "/++++w==");
}

}  // namespace
}  // namespace heed
