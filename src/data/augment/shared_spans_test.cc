#include "data/augment/shared_spans.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heed {
namespace {

using Words = std::vector<std::string>;

TEST(SharedSpans, NamesNumbersAndAddresses) {
  EXPECT_EQ(shared_spans("Um 12 rief „Eva“ Tom an.", "At 12, Eva called Tom."), (Words{"12", "Eva", "Tom"}));
  EXPECT_EQ(
      shared_spans("Siehe www.beispiel.de/a_b (Version 2.0).", "See www.beispiel.de/a_b (version 2.0)."),
      (Words{"www.beispiel.de/a_b", "2.0"}));
  EXPECT_EQ(shared_spans("Mail an a@b.de!", "Mail a@b.de!"), (Words{"Mail", "a@b.de"}));
}

TEST(SharedSpans, WholeSpansEquallyOften) {
  EXPECT_EQ(shared_spans("Das kostet 4,1 Euro.", "That costs 4.1 euros."), Words{});
  EXPECT_EQ(shared_spans("Tom sah Tom.", "Tom saw himself."), Words{});
  EXPECT_EQ(shared_spans("Ja, an der Ecke", "Ja an in der"), Words{});  // small letters, or too short
  EXPECT_EQ(shared_spans("", "x"), Words{});
}

TEST(SharedSpans, EachOnceInTheOrderOfTheSource) {
  EXPECT_EQ(shared_spans("Tom 12 Eva Tom 7", "7 Tom Eva Tom 12 12"), (Words{"Tom", "Eva", "7"}));
  EXPECT_EQ(shared_spans("Tom Eva", "Tom Tom"), Words{});
}

/// One that compared all words with all others took minutes.
TEST(SharedSpans, TakeLinearTime) {
  std::string line;
  for (int n = 0; n < 300'000; ++n) line += std::to_string(n) + ' ';
  EXPECT_EQ(shared_spans(line, line).size(), 300'000u);
}

TEST(SharedSpans, AreReplacedAsWords) {
  EXPECT_EQ(replace_span("Tom, Tommy und (Tom).", "Tom", "Ann"), "Ann, Tommy und (Ann).");
  EXPECT_EQ(replace_span("12 und 12.5", "12", "7"), "7 und 12.5");
  EXPECT_EQ(replace_span("x", "12", "7"), "x");
}

}  // namespace
}  // namespace heed
