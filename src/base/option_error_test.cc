#include "base/option_error.h"

#include <gtest/gtest.h>

#include "test_folder.h"

namespace heed {
namespace {

TEST(OptionError, NamesOptionsOfTheCaller) {
  try {
    fail_option("$nbest must be at most $beam_size ({}), not {}, for $ 5", 4, 7);
  } catch (const OptionError& error) {
    EXPECT_STREQ(error.what(), "nbest must be at most beam_size (4), not 7, for $ 5");
    EXPECT_EQ(error.message([](const std::string& name) { return "--" + name; }),
              "--nbest must be at most --beam_size (4), not 7, for $ 5");
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  }
  expect_error(ErrorKind::kUsage, "top_p", [] { fail_option("$top_p"); });
}

}  // namespace
}  // namespace heed
