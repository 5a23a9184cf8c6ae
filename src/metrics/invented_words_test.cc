#include "metrics/invented_words.h"

#include <gmock/gmock.h>

#include "heed/error.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(InventedWords, WordsAreLettersNotAdjacentToDigits) {
  EXPECT_THAT(letter_words("I'm from München, on 3rd May B12 (2nd) x3y!"),
              ElementsAre("I", "m", "from", "München", "on", "May"));
  EXPECT_THAT(letter_words("Mu\u0308nchen"), ElementsAre("München"));  // one word, composed
  EXPECT_THAT(letter_words("19,99 € — 12:30"), IsEmpty());
  EXPECT_THAT(letter_words("q\u0323\u0307a nice \u2600\uFE0F"), ElementsAre("q\u0323\u0307a", "nice"));
  EXPECT_THAT(letter_words("1\uFE0F\u20E3st 2\u0301nd"), IsEmpty());  // digits with marks
  EXPECT_THROW(letter_words("a\xFF"), Error);
}

TEST(InventedWords, AreNeitherKnownNorCopied) {
  KnownWords known;
  known.add("I am from the capital of Austria");
  EXPECT_THAT(invented_words("I am from mosquitoes of MOSQUITOES and mosquitoes.", {}, known),
              ElementsAre("mosquitoes", "MOSQUITOES", "and"));
  EXPECT_THAT(invented_words("I am from Wrona.", {"Ich komme aus Wrona."}, known), IsEmpty());
  EXPECT_THAT(invented_words("I am from Wronas.", {"Ich komme aus Wrona."}, known), ElementsAre("Wronas"));
  EXPECT_THAT(invented_words("CAPITAL", {}, known), IsEmpty());
  EXPECT_THAT(invented_words("STRASSE", {"Straße"}, known), IsEmpty());  // full case folding
}

TEST(InventedWords, CompoundsOfKnownWordsAreOptional) {
  KnownWords known;
  known.add("Haus Schlüssel Arbeit Zimmer Hund Tür es er");
  const auto invented = [&](const char* text, bool compounds) {
    return invented_words(text, {}, known, {.compounds = compounds});
  };
  EXPECT_THAT(invented("Hausschlüssel Arbeitszimmer", false), ElementsAre("Hausschlüssel", "Arbeitszimmer"));
  EXPECT_THAT(invented("Hausschlüssel Arbeitszimmer Hundehaus Haushausschlüssel", true), IsEmpty());
  // "Tür" is too short for a part, "ling" is none, and a link at the end joins nothing.
  EXPECT_THAT(invented("Haustür Hausling Haushunds", true), ElementsAre("Haustür", "Hausling", "Haushunds"));
}

// A part is at most as long as the longest known word: a run of letters takes linear time.
TEST(InventedWords, LongRunsOfLetters) {
  KnownWords known;
  known.add("Hund Haus");
  std::string run;
  for (int n = 0; n < 20'000; ++n) run += "haus";
  EXPECT_TRUE(known.contains_compound(run + "hund"));
  EXPECT_FALSE(known.contains_compound(run + "hun"));
}

}  // namespace
}  // namespace heed
