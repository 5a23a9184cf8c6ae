// How many boundaries of tests/data/sentence_breaks.txt, a list of hard cases, the splitter finds, and how
// many it finds where none is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "paths.h"
#include "text/sentences/sentence_splitter.h"

namespace heed {
namespace {

struct Counts {
  int lines = 0, right = 0, missed = 0, invented = 0;
  double precision() const { return static_cast<double>(right) / std::max(1, right + invented); }
  double recall() const { return static_cast<double>(right) / std::max(1, right + missed); }
};

/// Where sentences begin, in bytes, except the first.
std::set<size_t> boundaries(const SplitText& split) {
  std::set<size_t> positions;
  size_t at = 0;
  for (size_t n = 0; n < split.sentences.size(); ++n) {
    at += split.separators[n].size();
    if (n > 0) positions.insert(at);
    at += split.sentences[n].size();
  }
  return positions;
}

/// Removes the marks and says where they stood.
std::set<size_t> take_marks(std::string& text) {
  static const std::string kMark = "¦ ";
  std::set<size_t> positions;
  for (size_t at = 0; (at = text.find(kMark, at)) != std::string::npos; positions.insert(at)) {
    text.erase(at, kMark.size());
  }
  return positions;
}

TEST(SentenceBreaks, HardCases) {
  std::ifstream file(source_folder() + "/tests/data/sentence_breaks.txt");
  std::map<std::string, SentenceSplitter> splitters;
  std::map<std::string, Counts> counts;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const std::string language = line.substr(0, line.find('\t'));
    std::string text = line.substr(line.find('\t') + 1);
    const std::set<size_t> expected = take_marks(text);
    const std::set<size_t> found =
        boundaries(splitters.try_emplace(language, language).first->second.split(text));
    Counts& count = counts[language];
    ++count.lines;
    for (const size_t position : found) ++(expected.count(position) > 0 ? count.right : count.invented);
    for (const size_t position : expected) count.missed += found.count(position) > 0 ? 0 : 1;
    if (found != expected) fmt::print("{} {}\n", language, line.substr(line.find('\t') + 1));
  }
  ASSERT_EQ(counts.size(), 3U);
  for (const auto& [language, count] : counts) {
    fmt::print("{}: precision {:.3f}, recall {:.3f} of {} boundaries in {} lines\n", language,
               count.precision(), count.recall(), count.right + count.missed, count.lines);
    EXPECT_GE(count.lines, 50);
    EXPECT_GE(count.precision(), 0.98) << language;
    EXPECT_GE(count.recall(), 0.98) << language;
  }
}

}  // namespace
}  // namespace heed
