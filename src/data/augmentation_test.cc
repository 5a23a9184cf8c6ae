#include "data/augmentation.h"

#include <gtest/gtest.h>

#include "test_folder.h"

namespace heed {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs extended(const std::string& text, const AugmentationOptions& options) {
  const TestFolder folder;
  const PairsInput input{.pairs = folder.write("p.tsv", text)};
  PairsReader names(input), reader(input);
  Augmentation augmentation(names, options);
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

TEST(Augmentation, CapitalsAreUnicode) {
  EXPECT_EQ(extended("große Straße\tbig street\n", {.capitals = 1}),
            (Pairs{{"GROSSE STRASSE", "BIG STREET"}}));
}

TEST(Augmentation, JoinsTheSamePairsOnBothSides) {
  const Pairs added = extended("a\tA\nb\tB\nc\tC\nd\tD\n", {.joined = 1});
  ASSERT_EQ(added.size(), 3u);  // the first has no other before it
  for (const auto& [source, target] : added) {
    EXPECT_EQ(source.size(), target.size());
    EXPECT_GE(source.size(), 3u);
    for (size_t n = 0; n < source.size(); ++n) EXPECT_EQ(std::toupper(source[n]), target[n]);
  }
}

TEST(Augmentation, TakesMarksAwayOnBothSides) {
  EXPECT_EQ(extended("Hilfe!\tHelp!\nAch so\tI see.\n?\t?\nWarum…?\t¿Por qué?\n", {.bare = 1}),
            (Pairs{{"Hilfe", "Help"}, {"Warum", "Por qué"}}));
}

TEST(Augmentation, CopiesNamesAndNumbers) {
  const Pairs added = extended(kText + kText + kText, {.copies = 1});
  ASSERT_EQ(added.size(), 9u);
  int numbers = 0;
  for (const auto& [source, target] : added) {
    EXPECT_EQ(source, target);
    numbers += source[0] >= '0' && source[0] <= '9' ? 1 : 0;
  }
  EXPECT_GT(numbers, 0);
  EXPECT_LT(numbers, 9);
}

TEST(Augmentation, IsAFunctionOfKeyAndText) {
  const AugmentationOptions one{.names = 1, .joined = 0.5, .key = RandomKey::from_seed(1)};
  const AugmentationOptions two{.names = 1, .joined = 0.5, .key = RandomKey::from_seed(2)};
  EXPECT_EQ(extended(kText, one), extended(kText, one));
  EXPECT_NE(extended(kText, one), extended(kText, two));
  EXPECT_TRUE(extended(kText, {}).empty());
}

TEST(Augmentation, TextWithoutNamesGetsNone) {
  EXPECT_TRUE(extended("a b\tc d\n", {.names = 3}).empty());
}

}  // namespace
}  // namespace heed
