#include "serve/http/http_message.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

// As the URL standard has it, and forms that `curl -d` sends as they are typed.
TEST(PercentDecode, LeavesWhatIsNoCode) {
  EXPECT_EQ(percent_decode("Stra%C3%9fe+1%2B1", true), "Straße 1+1");
  EXPECT_EQ(percent_decode("a+b%20c", false), "a+b c");
  EXPECT_EQ(percent_decode("100% sure", true), "100% sure");
  EXPECT_EQ(percent_decode("100%", true), "100%");
  EXPECT_EQ(percent_decode("%4", true), "%4");
  EXPECT_EQ(percent_decode("%zz%%41", true), "%zz%A");
}

}  // namespace
}  // namespace heed::serve
