#include "data/corpus/pairs_mix.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "test_folder.h"

namespace heed {
namespace {

/// "source>target" of all pairs.
std::vector<std::string> read_all(PairSource& source) {
  std::vector<std::string> pairs;
  for (Pair pair; source.next(pair);) {
    std::string tag(pair.tag);
    if (!tag.empty()) tag += " ";
    pairs.push_back(fmt::format("{}{}>{}", tag, pair.source, pair.target));
  }
  return pairs;
}

std::vector<std::string> read_all(const PairsMix& mix) {
  PairsMixReader reader(mix);
  return read_all(reader);
}

using Lines = std::vector<std::string>;

TEST(PairsMix, RepeatsPairsByWeight) {
  const TestFolder folder;
  const PairsInput one{.pairs = folder.write("one.tsv", "a\tA\nb\tB\n")};
  const PairsInput two{
      .source = folder.write("two.s", "c\n\n"), .target = folder.write("two.t", "C\nx\n"), .swap = true};
  const PairsInput none{.pairs = folder.write("none.tsv", "z\tZ\n")};
  const PairsMix mix({{one, 2}, {none, 0}, {two, 1, "<bt>"}}, {});
  EXPECT_EQ(read_all(mix), (Lines{"a>A", "a>A", "b>B", "b>B", "<bt> C>c"}));
  EXPECT_EQ(mix.name(), "3 corpora");
  ASSERT_EQ(mix.counts().size(), 3u);
  EXPECT_EQ(mix.counts()[0].given, 4u);
  EXPECT_EQ(mix.counts()[1].used, 0u);
  EXPECT_EQ(mix.counts()[2].read.empty, 1u);
}

TEST(PairsMix, SingleCorpus) {
  const TestFolder folder;
  const PairsInput input{.pairs = folder.write("one.tsv", "a\tA\nb\tB\n")};
  const PairsMix mix({{input}}, {});
  PairsReader reader(input);
  PairsMixReader mixed(mix);
  EXPECT_EQ(read_all(mixed), read_all(reader));
  EXPECT_EQ(mix.fingerprint(), identify_pairs(input).fingerprint);
  EXPECT_EQ(mixed.fingerprint(), identify_pairs(input).fingerprint);
  EXPECT_EQ(mixed.name(), reader.name());
}

TEST(PairsMix, DrawsFractionsBySeedAndNumber) {
  const TestFolder folder;
  std::string text;
  for (int n = 0; n < 4000; ++n) text += fmt::format("{}\t{}\n", n, n);
  const PairsInput input{.pairs = folder.write("p.tsv", text)};
  const auto pairs = [&](double weight, uint64_t seed) {
    return read_all(PairsMix({{input, weight}}, {.key = RandomKey::from_seed(seed)}));
  };
  EXPECT_NEAR(static_cast<double>(pairs(0.25, 1).size()), 1000, 150);
  EXPECT_NEAR(static_cast<double>(pairs(1.5, 1).size()), 6000, 200);
  EXPECT_EQ(pairs(0.25, 1), pairs(0.25, 1));
  EXPECT_NE(pairs(0.25, 1), pairs(0.25, 2));
}

TEST(PairsMix, FingerprintIsOfTextAndWeights) {
  const TestFolder folder;
  const PairsInput input{.pairs = folder.write("a.tsv", "a\tA\n")},
      other{.pairs = folder.write("b.tsv", "b\tB\n")};
  const PairsInput copy{.pairs = folder.write("c.tsv", "a\tA\n")};
  std::map<uint64_t, int> seen;
  for (const auto& corpora : std::vector<std::vector<WeightedPairs>>{{{input}},
                                                                     {{input, 2}},
                                                                     {{input, 1, "<bt>"}},
                                                                     {{input}, {other}},
                                                                     {{other}, {input}},
                                                                     {{input}, {other, 2}},
                                                                     {{input, 2}, {other}}}) {
    const PairsMix mix(corpora, {});
    EXPECT_EQ(++seen[mix.fingerprint()], 1);
    PairsMixReader reader(mix);
    read_all(reader);
    EXPECT_EQ(reader.fingerprint(), mix.fingerprint());
  }
  EXPECT_EQ(PairsMix({{copy}, {other}}, {}).fingerprint(), PairsMix({{input}, {other}}, {}).fingerprint());
}

TEST(PairsMix, ErrorsNameTheCorpus) {
  const TestFolder folder;
  const PairsInput good{.pairs = folder.write("good.tsv", "a\tA\n")};
  const PairsInput bad{.pairs = folder.write("bad.tsv", "a\tA\nno tab\n")};
  expect_error(ErrorKind::kFormat, "line 2 of '" + bad.pairs + "' has no tab", [&] {
    PairsMix({{good}, {bad}}, {});
  });
  expect_error(ErrorKind::kUsage, "no sentence pairs", [&] { PairsMix({}, {}); });
  expect_error(ErrorKind::kUsage, "a number from 0 to 1000, not -1", [&] { PairsMix({{good, -1}}, {}); });
  expect_error(ErrorKind::kFormat, "no pair is left", [&] { PairsMix({{good, 0}}, {}); });
  expect_error(ErrorKind::kUsage, "standard input", [&] { PairsMix({{{.pairs = "-"}}}, {}); });
}

TEST(PairsMix, DetectsAChangedFile) {
  const TestFolder folder;
  const PairsInput input{.pairs = folder.write("p.tsv", "a\tA\nb\tB\n")};
  const PairsMix mix({{input, 2}}, {});
  for (const char* text : {"a\tA\n", "a\tA\nb\tB\nc\tC\n"}) {
    folder.write("p.tsv", text);
    expect_error(ErrorKind::kFile, "has changed while it was used", [&] { read_all(mix); });
  }
}

}  // namespace
}  // namespace heed
