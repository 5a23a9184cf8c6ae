#include "base/text/named_values.h"

#include <gtest/gtest.h>

#include "heed/error.h"

namespace heed {
namespace {

enum class Colour { kRed, kBlue, kGreen };
constexpr NamedValues<Colour, 3> kColours{
    {{Colour::kRed, "red"}, {Colour::kBlue, "blue"}, {Colour::kGreen, "green"}}};

TEST(NamedValues, NamesAndValues) {
  EXPECT_EQ(value_in(kColours, "colour", "blue"), Colour::kBlue);
  EXPECT_STREQ(name_in(kColours, Colour::kGreen), "green");
  EXPECT_EQ(names_in(kColours), (std::vector<std::string>{"red", "blue", "green"}));
}

TEST(NamedValues, AnUnknownNameIsAnErrorWithAllNames) {
  try {
    value_in(kColours, "colour", "pink");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "unknown colour 'pink': choose red, blue or green");
  }
}

TEST(NamedValues, Alternatives) {
  EXPECT_EQ(alternatives({"a"}), "a");
  EXPECT_EQ(alternatives({"a", "b"}), "a or b");
  EXPECT_EQ(alternatives({"a", "b", "c"}), "a, b or c");
}

}  // namespace
}  // namespace heed
