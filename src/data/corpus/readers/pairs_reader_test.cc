#include "data/corpus/readers/pairs_reader.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "test_folder.h"

namespace heed {
namespace {

uint64_t fingerprint_of(const PairsInput& input) {
  return identify_pairs(input).fingerprint;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs read_all(PairsReader& reader) {
  Pairs pairs;
  Pair pair;
  while (reader.next(pair)) pairs.emplace_back(pair.source, pair.target);
  return pairs;
}

Pairs pairs_of(const PairsInput& input) {
  PairsReader reader(input);
  return read_all(reader);
}

void expect_message(const PairsInput& input, ErrorKind kind, std::string_view part) {
  expect_error(kind, part, [&] { pairs_of(input); });
}

TEST(PairsReader, ReadsColumnsAndSwapsThem) {
  const TestFolder folder;
  const std::string path = folder.write("p.tsv", "Hallo!\tHello!\r\nJa.\tYes.");
  EXPECT_EQ(pairs_of({.pairs = path}), (Pairs{{"Hallo!", "Hello!"}, {"Ja.", "Yes."}}));
  EXPECT_EQ(pairs_of({.pairs = path, .swap = true}), (Pairs{{"Hello!", "Hallo!"}, {"Yes.", "Ja."}}));
}

TEST(PairsReader, ReadsParallelFilesAndSwapsThem) {
  const TestFolder folder;
  PairsInput input{.source = folder.write("a.de", "Hallo!\nJa,\tgern.\n"),
                   .target = folder.write("a.en", "Hello!\r\nYes.")};
  EXPECT_EQ(pairs_of(input), (Pairs{{"Hallo!", "Hello!"}, {"Ja,\tgern.", "Yes."}}));
  input.swap = true;
  EXPECT_EQ(pairs_of(input), (Pairs{{"Hello!", "Hallo!"}, {"Yes.", "Ja,\tgern."}}));
}

TEST(PairsReader, SkipsAndCountsEmptySidesAndExtraColumns) {
  const TestFolder folder;
  PairsReader reader(
      {.pairs = folder.write("p.tsv", "a\tb\tCC-BY 2.0\tsomebody\n\n\tb\na\t\xC2\xA0\n \t \n  \nc\td\n")});
  Pair pair;
  ASSERT_TRUE(reader.next(pair));
  EXPECT_EQ(pair.target, "b");
  EXPECT_EQ(pair.further_columns, "CC-BY 2.0\tsomebody");
  ASSERT_TRUE(reader.next(pair));
  EXPECT_EQ(pair.source, "c");
  EXPECT_EQ(pair.further_columns, "");
  EXPECT_EQ(pair.line, 7u);
  EXPECT_FALSE(reader.next(pair));
  EXPECT_EQ(reader.counts().lines, 7u);
  EXPECT_EQ(reader.counts().pairs, 2u);
  EXPECT_EQ(reader.counts().empty, 5u);
  EXPECT_EQ(reader.counts().extra_columns, 1u);
}

TEST(PairsReader, SaysWhichLineHasNoTab) {
  const TestFolder folder;
  const std::string path = folder.write("p.tsv", "a\tb\n\nno tab here\n");
  expect_message({.pairs = path}, ErrorKind::kFormat,
                 "line 3 of '" + path + "' has no tab: each line is source TAB target");
}

TEST(PairsReader, SaysHowManyLinesParallelFilesHave) {
  const TestFolder folder;
  const std::string a = folder.write("a", "1\n2\n3\n4\n5\n"), b = folder.write("b", "1\n2\n3\n");
  expect_message({.source = a, .target = b}, ErrorKind::kFormat,
                 "'" + a + "' has 5 lines and '" + b + "' has 3");
  expect_message({.source = b, .target = a}, ErrorKind::kFormat,
                 "'" + b + "' has 3 lines and '" + a + "' has 5");
}

TEST(PairsReader, RefusesInputWithoutPairs) {
  const TestFolder folder;
  const std::string none = folder.write("none", ""), blank = folder.write("blank", "\n\t\n");
  expect_message({.pairs = none}, ErrorKind::kFormat, "'" + none + "': the file has no lines");
  expect_message({.source = none, .target = none}, ErrorKind::kFormat, "the file has no lines");
  expect_message({.pairs = blank}, ErrorKind::kFormat, "none of the 2 lines has text on both sides");
}

// A job that is resumed has had its pairs before.
TEST(PairsReader, NeedsNoPairsBehindSkippedLines) {
  const TestFolder folder;
  const std::string pairs = folder.write("pairs", "a\tb\n\n\n");
  for (const uint64_t skipped : {1, 3}) {
    PairsReader reader({.pairs = pairs});
    ASSERT_EQ(reader.skip(skipped), skipped);
    EXPECT_EQ(read_all(reader), Pairs{});
    EXPECT_EQ(reader.counts().lines, 3 - skipped);
  }
  PairsReader reader({.pairs = folder.write("blank", "\n\n")});
  EXPECT_EQ(reader.skip(0), 0u);
  expect_error(ErrorKind::kFormat, "none of the 2 lines has text on both sides", [&] { read_all(reader); });
}

TEST(PairsReader, NamesTheFileWithBadText) {
  const TestFolder folder;
  const std::string good = folder.write("good", "1\n2\n"), bad = folder.write("bad", "1\n\xFF\n");
  expect_message({.source = good, .target = bad}, ErrorKind::kText, "line 2 of '" + bad + "' is not UTF-8");
  EXPECT_EQ(pairs_of({.source = good, .target = bad, .lines = {.lossy = true}}).at(1).second, "\xEF\xBF\xBD");
}

TEST(PairsReader, NeedsOneFileOrTwo) {
  const TestFolder folder;
  const std::string path = folder.write("p", "a\tb\n");
  expect_message({}, ErrorKind::kUsage, "sentence pairs need one file");
  expect_message({.source = path}, ErrorKind::kUsage, "sentence pairs need one file");
  expect_message({.pairs = path, .target = path}, ErrorKind::kUsage, "not both");
  expect_message({.source = "-", .target = "-"}, ErrorKind::kUsage,
                 "cannot both be read from standard input");
  expect_message({.pairs = folder.path("missing")}, ErrorKind::kNotFound, folder.path("missing"));
}

TEST(FingerprintPairs, FollowsContentAndSettingsButNotNames) {
  const TestFolder folder;
  const PairsInput input{.pairs = folder.write("p", "a\tb\n")};
  const uint64_t expected = identify_pairs(input).fingerprint;
  PairsReader reader(input);
  read_all(reader);
  EXPECT_EQ(reader.fingerprint(), expected);
  EXPECT_EQ(fingerprint_of({.pairs = folder.write("other-name", "a\tb\n")}), expected);
  EXPECT_NE(fingerprint_of({.pairs = folder.write("other", "a\tc\n")}), expected);
  EXPECT_NE(fingerprint_of({.pairs = input.pairs, .swap = true}), expected);
  EXPECT_NE(fingerprint_of({.pairs = input.pairs, .lines = {.lossy = true}}), expected);

  // What moves from one file to the other changes the fingerprint, although all bytes in a row are the same.
  const std::string a = folder.write("a", "1\n2\n"), b = folder.write("b", "3\n");
  const std::string shorter = folder.write("shorter", "1\n"), longer = folder.write("longer", "2\n3\n");
  EXPECT_NE(fingerprint_of({.source = a, .target = b}),
            fingerprint_of({.source = shorter, .target = longer}));
  expect_error(ErrorKind::kUsage, "standard input", [] { fingerprint_of({.pairs = "-"}); });
}

TEST(PairsReader, PartsAreTheWhole) {
  const TestFolder folder;
  std::string source, target, tsv;
  for (int n = 0; n < 23; ++n) {
    const bool blank = n % 5 == 3;
    source += blank ? "\n" : fmt::format("source {}\n", n);
    target += fmt::format("target {}\n", n);
    tsv += blank ? "\n" : fmt::format("source {0}\ttarget {0}\n", n);
  }
  const PairsInput one{.pairs = folder.write("pairs.tsv", tsv)},
      two{.source = folder.write("source", source), .target = folder.write("target", target)};
  const size_t sizes[] = {tsv.size(), source.size(), target.size()};
  for (const PairsInput& whole : {one, two}) {
    for (const int count : {1, 2, 3, 7, 40}) {
      std::vector<std::string> together;
      uint64_t lines = 0, counted_lines = 0;
      std::vector<uint64_t> ends(whole.pairs.empty() ? 2 : 1);
      for (int number = 1; number <= count; ++number) {
        PairsInput input = whole;
        input.lines.part = {number, count};
        PairsReader reader(input);
        for (Pair pair; reader.next(pair);) {
          together.push_back(std::string(pair.source) + "|" + std::string(pair.target));
          EXPECT_EQ(pair.source.substr(7), std::to_string(reader.line_number() - 1));
        }
        lines += reader.counts().lines;
        const PairsIdentity identity = identify_pairs(input);
        counted_lines += identity.lines;
        EXPECT_EQ(reader.ranges(), identity.ranges);
        ASSERT_EQ(identity.ranges.size(), ends.size());
        for (size_t file = 0; file < ends.size(); ++file) {
          EXPECT_EQ(identity.ranges[file].begin, ends[file]);
          EXPECT_EQ(identity.ranges[file].size, sizes[file + ends.size() - 1]);
          ends[file] = identity.ranges[file].end;
        }
      }
      ASSERT_EQ(together.size(), 19u);
      EXPECT_EQ(together[3], "source 4|target 4");
      EXPECT_EQ(lines, 23u);
      for (size_t file = 0; file < ends.size(); ++file) EXPECT_EQ(ends[file], sizes[file + ends.size() - 1]);
      EXPECT_EQ(counted_lines, 23u);
    }
  }
}

TEST(PairsReader, SkipsLinesOfBothFiles) {
  const TestFolder folder;
  const PairsInput input{.source = folder.write("source", "a\nb\nc\n"),
                         .target = folder.write("target", "1\n2\n3\n")};
  PairsReader reader(input);
  EXPECT_EQ(reader.skip(2), 2u);
  Pair pair;
  ASSERT_TRUE(reader.next(pair));
  EXPECT_EQ(pair.source, "c");
  EXPECT_EQ(pair.target, "3");
  EXPECT_FALSE(reader.next(pair));
}

}  // namespace
}  // namespace heed
