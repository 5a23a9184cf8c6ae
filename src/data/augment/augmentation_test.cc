#include "data/augment/augmentation.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "test_folder.h"
#include "text/terms/placeholder_piece.h"

namespace heed {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs extended(const std::string& text, const AugmentationOptions& options, RandomKey key = {}) {
  const TestFolder folder;
  const PairsInput input{.pairs = folder.write("p.tsv", text)};
  PairsReader names(input), reader(input);
  Augmentation augmentation(names, options, key, 5);
  Pair pair;
  Pairs added;
  while (reader.next(pair)) {
    augmentation.extend(
        pair, [&](std::string_view source, std::string_view target) { added.emplace_back(source, target); });
  }
  EXPECT_EQ(augmentation.added(), added.size());
  return added;
}

const std::string kText =
    "Tom lacht.\tTom laughs.\nIch lache.\tI laugh.\nUm 12 ruft Eva Tom.\tAt 12 Eva calls Tom.\n";

TEST(Augmentation, PutsTheSameInventedNameOnBothSides) {
  const Pairs added = extended(kText, {.names = 2});
  ASSERT_EQ(added.size(), 4u);
  for (const auto& [source, target] : {added[0], added[1]}) {
    const std::string name = source.substr(0, source.find(" lacht."));
    EXPECT_NE(name, "Tom");
    EXPECT_EQ(source, name + " lacht.");
    EXPECT_EQ(target, name + " laughs.");
  }
  EXPECT_TRUE(added[2].first.starts_with("Um 12 ruft "));
}

TEST(Augmentation, PutsTheSameNumberOnBothSides) {
  const Pairs added = extended(kText, {.numbers = 1});
  ASSERT_EQ(added.size(), 1u);
  const std::string number = added[0].second.substr(3, added[0].second.find(" Eva") - 3);
  EXPECT_EQ(added[0].first, "Um " + number + " ruft Eva Tom.");
}

TEST(Augmentation, UpperCaseIsUnicode) {
  EXPECT_EQ(extended("große Straße\tbig street\n", {.uppercase = 1}),
            (Pairs{{"GROSSE STRASSE", "BIG STREET"}}));
}

TEST(Augmentation, ConcatenatesTheSamePairsOnBothSides) {
  const Pairs added = extended("a\tA\nb\tB\nc\tC\nd\tD\n", {.concatenated = 1});
  ASSERT_EQ(added.size(), 3u);  // the first has no other before it
  for (const auto& [source, target] : added) {
    EXPECT_EQ(source.size(), target.size());
    EXPECT_GE(source.size(), 3u);
    for (size_t n = 0; n < source.size(); ++n) EXPECT_EQ(std::toupper(source[n]), target[n]);
  }
}

TEST(Augmentation, RemovesFinalPunctuationOnBothSides) {
  EXPECT_EQ(
      extended("Hilfe!\tHelp!\nAch so\tI see.\n?\t?\nWarum…?\t¿Por qué?\n", {.no_final_punctuation = 1}),
      (Pairs{{"Hilfe", "Help"}, {"Warum", "Por qué"}}));
}

TEST(Augmentation, CopiesNamesAndNumbers) {
  const Pairs added = extended(kText + kText + kText, {.copied_spans = 1});
  ASSERT_EQ(added.size(), 9u);
  int numbers = 0;
  for (const auto& [source, target] : added) {
    EXPECT_EQ(source, target);
    numbers += source[0] >= '0' && source[0] <= '9' ? 1 : 0;
  }
  EXPECT_GT(numbers, 0);
  EXPECT_LT(numbers, 9);
}

TEST(Augmentation, LowerCaseKeepsTheTarget) {
  const std::string text = "Wo ist Tom?\tWhere is Tom?\nja\tyes\n";
  EXPECT_EQ(extended(text, {.lowercase = 1}), (Pairs{{"wo ist tom?", "Where is Tom?"}}));
  EXPECT_EQ(extended(text, {.uncapitalized = 1}), (Pairs{{"wo ist Tom?", "Where is Tom?"}}));
}

TEST(Augmentation, TitleCase) {
  EXPECT_EQ(extended("The end of the road.\tDas Ende der Straße.\nHelp!\tHilfe!\n", {.title_case = 1}),
            (Pairs{{"The End of the Road", "Das Ende der Straße"}}));
}

TEST(Augmentation, ReplacesNamesByNamesOfTheText) {
  for (const auto& [source, target] : extended(kText, {.names = 5, .names_from = NamesFrom::kText})) {
    for (const std::string& text : {source, target}) {
      EXPECT_TRUE(text.find("Tom") != std::string::npos || text.find("Eva") != std::string::npos) << text;
    }
    EXPECT_NE(source, "Tom lacht.");
  }
  EXPECT_EQ(extended("Tom lacht.\tTom laughs.\n", {.names = 1, .names_from = NamesFrom::kText}).size(), 1u);
}

TEST(Augmentation, GeometricConcatenationLength) {
  std::string text;
  for (int n = 0; n < 3000; ++n) text += "a\tA\n";
  std::map<size_t, double> share;
  for (const auto& [source, target] :
       extended(text, {.concatenated = 1, .concatenation_length = ConcatenationLength::kGeometric})) {
    share[(source.size() + 1) / 2] += 1.0 / 2999;
  }
  EXPECT_NEAR(share[2], 0.5, 0.05);
  EXPECT_NEAR(share[3], 0.25, 0.05);
  EXPECT_GT(share[7], 0);
  EXPECT_EQ(share.rbegin()->first, 7u);
}

TEST(Augmentation, AddressesAreCopiedToBothSides) {
  std::string text;
  for (int n = 0; n < 400; ++n) text += "Heute ruft Eva an.\tEva calls today.\nIch lache!\tI laugh!\n";
  const Pairs added = extended(text, {.addresses = 1});
  ASSERT_GT(added.size(), 400u + 150u);
  int alone = 0, instead = 0, behind = 0;
  for (const auto& [source, target] : added) {
    const auto inside = [](std::string whole, const std::vector<std::string>& words) {
      for (const std::string& word : words) {
        const size_t position = whole.find(word);
        if (position == std::string::npos) return std::string("?");
        whole.erase(position, word.size());
      }
      return whole;
    };
    if (source == target) {
      ++alone;
    } else if (source.starts_with("Heute ruft ") && source.find("Eva") == std::string::npos) {
      ++instead;
      EXPECT_EQ(inside(source, {"Heute ruft ", " an."}), inside(target, {" calls today."}));
    } else {
      ++behind;
      EXPECT_EQ(inside(source, {"Ich lache"}), inside(target, {"I laugh"}));
    }
  }
  EXPECT_GT(alone, 50);
  EXPECT_GT(instead, 200);
  EXPECT_GT(behind, 100);
}

TEST(Augmentation, PlaceholdersAreTheSameOnBothSidesAndAllOccur) {
  std::string text;
  for (int n = 0; n < 500; ++n) text += "Um 12 ruft Eva Tom.\tAt 12 Eva calls Tom.\nIch lache.\tI laugh.\n";
  std::map<std::string, int> seen, counts;
  for (const auto& [source, target] : extended(text, {.placeholders = 1})) {
    int count = 0;
    for (int n = 0; n < 5; ++n) {
      const std::string piece = placeholder_piece(n);
      const bool here = source.find(piece) != std::string::npos;
      EXPECT_EQ(here, target.find(piece) != std::string::npos) << source << " / " << target;
      seen[piece] += here ? 1 : 0;
      count += here ? 1 : 0;
    }
    ++counts[std::to_string(count)];
  }
  EXPECT_EQ(counts.size(), 3u);  // one to three
  for (int n = 0; n < 5; ++n) EXPECT_GT(seen[placeholder_piece(n)], 100) << n;
}

TEST(Augmentation, EmojisAreTheSameOnBothSides) {
  std::string text;
  for (int n = 0; n < 200; ++n) text += "Ja, Tom.\tYes, Tom.\n";
  std::set<std::string> sources;
  for (const auto& [source, target] : extended(text, {.emoji = 1})) {
    std::string translated = source;
    const size_t yes = source.find("Ja");
    ASSERT_NE(yes, std::string::npos);
    EXPECT_EQ(translated.replace(yes, 2, "Yes"), target);
    sources.insert(source);
  }
  EXPECT_GT(sources.size(), 100u);
}

TEST(Augmentation, KindsAreIndependent) {
  const AugmentationOptions few{
      .names = 1, .numbers = 1, .uppercase = 0.5, .concatenated = 0.5, .copied_spans = 0.5};
  AugmentationOptions more = few;
  more.lowercase = more.uncapitalized = more.title_case = more.emoji = more.placeholders = more.addresses = 1;
  const Pairs some = extended(kText + kText, few), all = extended(kText + kText, more);
  size_t found = 0;
  for (const auto& pair : all) found += found < some.size() && some[found] == pair ? 1 : 0;
  EXPECT_EQ(found, some.size());
  EXPECT_GT(all.size(), some.size() + 12);
}

TEST(Augmentation, IsAFunctionOfKeyAndText) {
  const AugmentationOptions options{.names = 1, .concatenated = 0.5};
  const RandomKey one = RandomKey::from_seed(1), two = RandomKey::from_seed(2);
  EXPECT_EQ(extended(kText, options, one), extended(kText, options, one));
  EXPECT_NE(extended(kText, options, one), extended(kText, options, two));
  EXPECT_TRUE(extended(kText, {}).empty());
}

TEST(Augmentation, TextWithoutNamesIsNotAugmented) {
  EXPECT_TRUE(extended("a b\tc d\n", {.names = 3}).empty());
}

}  // namespace
}  // namespace heed
