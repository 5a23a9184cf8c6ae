#include "base/text/option_error.h"

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

TEST(OptionText, NamesOptionsButNotInValues) {
  const auto flag = [](const std::string& name) { return "--" + name; };
  const std::string inner = option_text("a larger $steps than {}", 3);
  const std::string text = option_text("'{}' needs {}; see $output", "in/$home", inner);
  EXPECT_EQ(with_option_names(text, flag), "'in/$home' needs a larger --steps than 3; see --output");
  EXPECT_EQ(with_option_names(text), "'in/$home' needs a larger steps than 3; see output");
  EXPECT_EQ(with_option_names("a \x02 alone", flag), "a \x02 alone");
  EXPECT_EQ(with_option_names("", flag), "");
}

}  // namespace
}  // namespace heed
