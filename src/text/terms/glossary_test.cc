#include "text/terms/glossary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <ctime>
#include <random>

#include "base/stop.h"
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

TEST(Glossary, SoftHyphensAndCombiningMarksAreInsideOfWords) {
  const Glossary glossary =
      Glossary::parse("Bahnhof\tstation\nSchuh\tboot\nCafe\tpub\n  # none\n", "terms.tsv");
  EXPECT_EQ(found_terms(glossary, "Der Bahn\u00ADhof."), "[Bahn\u00ADhof=station]");
  EXPECT_EQ(found_terms(glossary, "\uFEFFSchuh"), "[Schuh=boot]");
  EXPECT_EQ(found_terms(glossary, "Ein Schuh\u00ADgeschäft, das Cafe\u0301"), "");
}

/// What find() should find in words between single spaces: all terms are tried at each word.
std::string found_by_trying(const Glossary& glossary, const std::vector<std::string>& words) {
  std::string result;
  for (size_t first = 0; first < words.size();) {
    size_t count = words.size() - first;
    for (; count > 0; --count) {
      std::string text, small;
      for (size_t n = first; n < first + count; ++n) text += (n > first ? " " : "") + words[n];
      small = text;
      small[0] = static_cast<char>(std::tolower(small[0]));
      const std::pair<std::string, std::string>* best = nullptr;
      for (const auto& term : glossary.terms()) {
        if (term.first == text || (best == nullptr && term.first == small)) best = &term;
      }
      if (best == nullptr) continue;
      result += "[" + text + "=" + best->second + "]";
      break;
    }
    first += std::max<size_t>(count, 1);
  }
  return result;
}

TEST(Glossary, FindsWhatTryingAllTermsFinds) {
  std::mt19937 random(7);
  const auto words = [&](size_t most) {
    std::vector<std::string> chosen(1 + random() % most);
    for (std::string& word : chosen) word = std::vector<std::string>{"a", "A", "b", "B", "cc"}[random() % 5];
    return chosen;
  };
  const auto joined = [](const std::vector<std::string>& chosen) {
    std::string text;
    for (const std::string& word : chosen) text += (text.empty() ? "" : " ") + word;
    return text;
  };
  size_t several = 0;
  for (int run = 0; run < 300; ++run) {
    Glossary glossary;
    for (int term = 0; term < 12; ++term) {
      const std::string source = joined(words(4));
      glossary.add(source, "<" + source + ">");
    }
    const std::vector<std::string> text = words(30);
    const std::string expected = found_by_trying(glossary, text);
    EXPECT_EQ(found_terms(glossary, joined(text)), expected);
    several += expected.find(' ') != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(several, 100U);  // there are terms of several words among them
}

/// The processor time to look for terms in a text, the least of three.
double seconds_to_find(const Glossary& glossary, const std::string& text) {
  double least = 1e9;
  for (int run = 0; run < 3; ++run) {
    const std::clock_t begin = std::clock();
    EXPECT_TRUE(glossary.find(text).empty());
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

TEST(Glossary, ALongTermTakesLinearTime) {
  const auto seconds = [](size_t count) {
    std::string term, text;
    for (size_t n = 0; n < count; ++n) {
      term += "a ";
      text += ". ";
    }
    Glossary glossary;
    glossary.add(term, "x");
    return seconds_to_find(glossary, text);
  };
  const double few = seconds(200), many = seconds(800);
  // Four times the work; cubic time would be 64 times as long.
  EXPECT_LT(many, 9 * std::max(few, 1e-3));
}

TEST(Glossary, CanBeCancelled) {
  Glossary glossary;
  glossary.add("a", "x");
  const std::atomic<bool> flag = true;
  const StopScope scope{Stop(&flag)};
  EXPECT_THROW(glossary.find("b"), Cancelled);
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
