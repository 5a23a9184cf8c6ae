#include "data/align/translation_table.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/rng.h"

namespace heed {
namespace {

enum Word : int32_t { kDas, kHaus, kBuch, kEin, kThe, kHouse, kBook, kA, kWordCount };

struct EncodedPairs {
  Sequences sources, targets;
  void add(const std::vector<int32_t>& source, const std::vector<int32_t>& target) {
    sources.append(source);
    targets.append(target);
  }
};

float probability(const TranslationTable& table, int32_t source, int32_t target) {
  for (const auto& [word, p] : table.of(source)) {
    if (word == target) return p;
  }
  return 0;
}

// das Haus - the house, das Buch - the book, ein Buch - a book: the example and the numbers of Koehn,
// "Statistical Machine Translation" (2010), figure 4.4.
TEST(TranslationTable, MatchesTheTextbookExample) {
  EncodedPairs pairs;
  pairs.add({kDas, kHaus}, {kThe, kHouse});
  pairs.add({kDas, kBuch}, {kThe, kBook});
  pairs.add({kEin, kBuch}, {kA, kBook});
  const std::map<int, std::vector<double>> expected{// after: the|das, book|das, house|das, book|buch
                                                    {1, {0.5, 0.25, 0.25, 0.5}},
                                                    {2, {0.6364, 0.1818, 0.1818, 0.6364}},
                                                    {3, {0.7479, 0.1208, 0.1313, 0.7479}}};
  for (const auto& [iterations, numbers] : expected) {
    const TranslationTable table(pairs.sources, pairs.targets, kWordCount, iterations);
    EXPECT_NEAR(probability(table, kDas, kThe), numbers[0], 5e-5);
    EXPECT_NEAR(probability(table, kDas, kBook), numbers[1], 5e-5);
    EXPECT_NEAR(probability(table, kDas, kHouse), numbers[2], 5e-5);
    EXPECT_NEAR(probability(table, kBuch, kBook), numbers[3], 5e-5);
  }
  const TranslationTable table(pairs.sources, pairs.targets, kWordCount, 100);
  EXPECT_GT(probability(table, kDas, kThe), 0.99);
  EXPECT_EQ(table.of(kHaus).front().word, kHouse);
  EXPECT_EQ(table.of(kEin).front().word, kA);
  EXPECT_TRUE(table.of(kThe).empty()) << "never a source";
}

// Many pairs of many words: memory is put in order on the way, and nothing is lost.
TEST(TranslationTable, FindsADictionary) {
  constexpr int32_t kSize = 40;
  EncodedPairs pairs;
  Random random(RandomKey::from_seed(1));
  for (int n = 0; n < 20000; ++n) {
    std::vector<int32_t> source, target;
    for (uint64_t length = 2 + random.below(8); length > 0; --length) {
      source.push_back(static_cast<int32_t>(random.below(kSize)));
      target.insert(target.begin(), kSize - 1 - source.back());
    }
    pairs.add(source, target);
  }
  const TranslationTable table(pairs.sources, pairs.targets, kSize);
  for (int32_t id = 0; id < kSize; ++id) {
    const auto found = table.of(id);
    EXPECT_EQ(found.front().word, kSize - 1 - id);
    EXPECT_GT(found.front().probability, 0.8);
    EXPECT_EQ(found.size(), static_cast<size_t>(kSize));
    double sum = 0;
    for (const auto& translation : found) sum += translation.probability;
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

}  // namespace
}  // namespace heed
