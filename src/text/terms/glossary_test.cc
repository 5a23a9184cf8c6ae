#include "text/terms/glossary.h"

#include <gtest/gtest.h>

#include "heed/error.h"

namespace heed {
namespace {

std::string found_terms(const Glossary& glossary, const std::string& text) {
  std::string result;
  for (const auto& match : glossary.find(text)) {
    result += "[" + text.substr(match.begin, match.end - match.begin) + "=" + match.target + "]";
  }
  return result;
}

TEST(Glossary, FindsTheLongestTermsAsWholeWords) {
  const Glossary glossary = Glossary::parse(
      "# terms\n\nHaus\tbuilding\nHaus  und Hof\thouse and home\r\nschnelles Auto\tfast car\n", "terms.tsv");
  EXPECT_EQ(glossary.size(), 3U);
  EXPECT_EQ(found_terms(glossary, "Das Haus und  Hof, ein Haus."),
            "[Haus und  Hof=house and home][Haus=building]");
  EXPECT_EQ(found_terms(glossary, "Schnelles Auto, Hausboot, haus"), "[Schnelles Auto=fast car]");
  EXPECT_EQ(found_terms(glossary, ""), "");
}

TEST(Glossary, ErrorsNameTheLine) {
  for (const char* content : {"a\tb\nHaus\n", "a\tb\nHaus\t\n", "a\tb\n\tx\n", "a\tb\na\tc\n",
                              "a\tb\nx\ty\tz\n", "a\tb\n\xFF\tz\n"}) {
    try {
      Glossary::parse(content, "terms.tsv");
      FAIL() << content;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("'terms.tsv', line 2"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace heed
