#include "data/align/hmm_aligner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace heed {
namespace {

using testing::ElementsAre;

constexpr int32_t kEnd = 0, kWords = 30, kVocabulary = 2 * kWords + 10;

struct EncodedCorpora {
  Sequences sources, targets;
};

/// Sentences of words 1 .. kWords, translated word by word (w becomes kWords + w) in the same order, but that
/// the last word comes first; and with a token without a counterpart in the middle of the target.
EncodedCorpora reordered_pairs(int count, uint64_t seed) {
  Random random(RandomKey::from_seed(seed));
  EncodedCorpora pairs;
  for (int n = 0; n < count; ++n) {
    std::vector<int32_t> source, target;
    const auto length = 4 + random.below(4);
    for (uint64_t i = 0; i < length; ++i) source.push_back(1 + static_cast<int32_t>(random.below(kWords)));
    for (const int32_t word : source) target.push_back(kWords + word);
    std::rotate(target.begin(), target.end() - 1, target.end());
    target.insert(target.begin() + 2, kVocabulary - 1);
    source.push_back(kEnd);
    target.push_back(kEnd);
    pairs.sources.append(source);
    pairs.targets.append(target);
  }
  return pairs;
}

TEST(HmmAligner, FindsReorderedAndUnalignedWords) {
  const EncodedCorpora pairs = reordered_pairs(2000, 1);
  ThreadPool pool(2);
  const HmmAligner aligner(pairs.sources, pairs.targets, kVocabulary, pool);
  EXPECT_THAT(aligner.align(std::vector<int32_t>{3, 4, 5, 6, kEnd},
                            std::vector<int32_t>{kWords + 6, kWords + 3, kVocabulary - 1, kWords + 4,
                                                 kWords + 5, kEnd}),
              ElementsAre(3, 0, -1, 1, 2));
}

// Word 7 stands twice: which of its translations is which, only the order tells, and model 1 knows none.
TEST(HmmAligner, PrefersMonotonicLinks) {
  const EncodedCorpora pairs = reordered_pairs(2000, 1);
  ThreadPool pool(2);
  const HmmAligner aligner(pairs.sources, pairs.targets, kVocabulary, pool);
  const std::vector<int32_t> source{3, 7, 4, 7, 5, 6, kEnd},
      target{kWords + 6, kWords + 3, kWords + 7, kWords + 4, kWords + 7, kWords + 5, kEnd};
  EXPECT_THAT(aligner.align(source, target), ElementsAre(5, 0, 1, 2, 3, 4));
}

TEST(HmmAligner, DoesNotDependOnThreads) {
  const EncodedCorpora pairs = reordered_pairs(1500, 2), others = reordered_pairs(200, 3);
  ThreadPool one(1), four(4);
  const HmmAligner a(pairs.sources, pairs.targets, kVocabulary, one),
      b(pairs.sources, pairs.targets, kVocabulary, four);
  for (int n = 0; n < others.sources.count(); ++n) {
    EXPECT_EQ(a.align(others.sources[n], others.targets[n]), b.align(others.sources[n], others.targets[n]));
  }
}

TEST(HmmAligner, HandlesEmptySentencesAndUnknownTokens) {
  EncodedCorpora pairs = reordered_pairs(50, 4);
  for (const auto& [source, target] : std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>>{
           {{kEnd}, {5, kEnd}}, {{5, kEnd}, {kEnd}}, {{kEnd}, {kEnd}}, {{5, kEnd}, {6, kEnd}}}) {
    pairs.sources.append(source);
    pairs.targets.append(target);
  }
  ThreadPool pool(1);
  const HmmAligner aligner(pairs.sources, pairs.targets, kVocabulary, pool);
  const std::vector<int32_t> nothing{kEnd}, unknown{kVocabulary - 2, kVocabulary - 3, kEnd};
  EXPECT_TRUE(aligner.align(unknown, nothing).empty());
  EXPECT_THAT(aligner.align(nothing, unknown), ElementsAre(-1, -1));
  EXPECT_EQ(aligner.align(unknown, unknown).size(), 2u);
}

TEST(TwoWayAligner, ReportsItsProgress) {
  const EncodedCorpora pairs = reordered_pairs(20, 1);
  ThreadPool pool(1);
  HmmAlignerOptions options;
  options.model1_iterations = 1;
  options.iterations = 1;
  std::vector<double> fractions;
  options.progress = [&](double fraction) { fractions.push_back(fraction); };
  const TwoWayAligner aligner(pairs.sources, pairs.targets, kVocabulary, pool, options);
  EXPECT_EQ(fractions, (std::vector<double>{0.25, 0.5, 0.75, 1}));
}

}  // namespace
}  // namespace heed
