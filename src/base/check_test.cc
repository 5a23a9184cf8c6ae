#include "base/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace heed {
namespace {

TEST(Check, FailedChecksAreLogicErrorsWithLocation) {
  HEED_CHECK(1 + 1 == 2);
  try {
    HEED_CHECK(1 + 1 == 3);
    FAIL() << "no exception";
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("1 + 1 == 3"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("check_test.cc"));
  }
}

TEST(Check, ErrorsHaveAKind) {
  try {
    fail(ErrorKind::kShape, "{} heads do not divide {}", 7, 512);
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kShape);
    EXPECT_STREQ(error.what(), "7 heads do not divide 512");
  }
}

}  // namespace
}  // namespace heed
