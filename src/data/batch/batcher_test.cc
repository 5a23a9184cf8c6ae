#include "data/batch/batcher.h"

#include <algorithm>
#include <numeric>

#include "base/rng.h"
#include "test_folder.h"

namespace heed {
namespace {

/// Lengths like those of real pairs: 1 to 60, target near the source.
std::vector<SentenceSize> random_sizes(size_t count) {
  Random random(RandomKey::from_seed(5));
  std::vector<SentenceSize> sizes(count);
  for (SentenceSize& size : sizes) {
    size.source = 1 + static_cast<int32_t>(60 * random.uniform() * random.uniform());
    size.target = 1 + static_cast<int32_t>(size.source * (0.7 + 0.6 * random.uniform()));
  }
  return sizes;
}

std::vector<Batch> epoch_of(const std::vector<SentenceSize>& sizes, BatcherOptions options,
                            uint64_t epoch = 0) {
  Batcher batcher(sizes_of(sizes), options, {.epoch = epoch});
  std::vector<Batch> batches;
  while (batcher.cursor().epoch == epoch) batches.push_back(batcher.next());
  return batches;
}

std::vector<uint64_t> sentences_of(const std::vector<Batch>& batches) {
  std::vector<uint64_t> all;
  for (const Batch& batch : batches) all.insert(all.end(), batch.sentences.begin(), batch.sentences.end());
  return all;
}

void expect_each_once(const std::vector<Batch>& batches, size_t count) {
  std::vector<uint64_t> all = sentences_of(batches);
  std::ranges::sort(all);
  std::vector<uint64_t> expected(count);
  std::iota(expected.begin(), expected.end(), uint64_t{0});
  EXPECT_EQ(all, expected);
}

void expect_consistent(const Batch& batch, const std::vector<SentenceSize>& sizes, int64_t batch_tokens) {
  ASSERT_EQ(batch.sentences.size(), batch.sizes.size());
  ASSERT_FALSE(batch.sentences.empty());
  int64_t source = 0, target = 0;
  for (size_t n = 0; n < batch.sentences.size(); ++n) {
    EXPECT_EQ(batch.sizes[n], sizes[batch.sentences[n]]);
    source += batch.sizes[n].source;
    target += batch.sizes[n].target;
  }
  EXPECT_EQ(batch.source_tokens, source);
  EXPECT_EQ(batch.target_tokens, target);
  if (batch.sentences.size() > 1) {
    EXPECT_LE(source, batch_tokens);
    EXPECT_LE(target, batch_tokens);
  }
}

TEST(Batcher, EverySentenceOncePerEpochWithinTheLimits) {
  for (const size_t count : {1, 2, 3, 100, 1000, 4321}) {
    const auto sizes = random_sizes(count);
    for (const int64_t batch_tokens : {1, 50, 300, 1'000'000}) {
      for (const int64_t window_batches : {1, 5, 1'000'000'000}) {
        for (const uint64_t epoch : {0, 3}) {
          const auto batches =
              epoch_of(sizes, {.batch_tokens = batch_tokens, .window_batches = window_batches}, epoch);
          expect_each_once(batches, count);
          for (const Batch& batch : batches) expect_consistent(batch, sizes, batch_tokens);
        }
      }
    }
  }
}

TEST(Batcher, CountsFractionsOfEpochs) {
  const auto sizes = random_sizes(1000);
  Batcher batcher(sizes_of(sizes), {.batch_tokens = 300, .window_batches = 5});
  double before = batcher.epochs();
  EXPECT_EQ(before, 0);
  size_t given = 0;
  while (batcher.cursor().epoch < 2) {
    given += batcher.next().sentences.size();
    EXPECT_GT(batcher.epochs(), before);
    before = batcher.epochs();
    // Within a window, its batches count alike, whatever the number of their sentences.
    EXPECT_NEAR(before, static_cast<double>(given) / 1000, 0.05);
    if (batcher.cursor().batch == 0) {
      EXPECT_DOUBLE_EQ(before, static_cast<double>(given) / 1000);
    }
  }
  EXPECT_EQ(before, 2);
}

TEST(Batcher, FillsItsBatches) {
  const auto sizes = random_sizes(20000);
  const SentenceSizes all = sizes_of(sizes);
  const int64_t batch_tokens = 2000;
  const auto batches = epoch_of(sizes, {.batch_tokens = batch_tokens, .window_batches = 20});
  // At best the longer side is full; at worst a batch lacks one sentence (up to 79 tokens) and up to 30 per
  // cent because a side is longer; the last batch of a window is a remainder, at half on average.
  const double best = static_cast<double>(std::max(all.source_tokens, all.target_tokens)) / batch_tokens;
  EXPECT_GE(static_cast<double>(batches.size()), best);
  EXPECT_LE(static_cast<double>(batches.size()), best * 1.3);
  EXPECT_EQ(Batcher(all, {.batch_tokens = batch_tokens, .window_batches = 20}).windows(),
            static_cast<uint64_t>(best / 20) + 1);
}

TEST(Batcher, LongSentencesAreBatchesByThemselves) {
  const std::vector<SentenceSize> sizes{{3, 3}, {100, 2}, {2, 100}, {4, 4}};
  for (const Batch& batch : epoch_of(sizes, {.batch_tokens = 10})) {
    const bool has_long = batch.source_tokens > 10 || batch.target_tokens > 10;
    EXPECT_EQ(batch.sentences.size(), has_long ? 1u : 2u);
  }
}

// Sentences of a batch are alike in length; in a batch drawn at random they are not.
TEST(Batcher, GroupsByLength) {
  const auto sizes = random_sizes(20000);
  const auto spread = [&](int64_t window_batches) {
    double sum = 0;
    const auto batches = epoch_of(sizes, {.batch_tokens = 1000, .window_batches = window_batches});
    for (const Batch& batch : batches) {
      const auto [low, high] = std::ranges::minmax(batch.sizes, {}, &SentenceSize::target);
      sum += high.target - low.target;
    }
    return sum / static_cast<double>(batches.size());
  };
  EXPECT_LT(spread(100), 3);
  EXPECT_GT(spread(1), 30);
}

TEST(Batcher, OrderDependsOnSeedAndEpoch) {
  const auto sizes = random_sizes(1000);
  const BatcherOptions options{.seed = 1, .batch_tokens = 200, .window_batches = 10};
  const auto first = sentences_of(epoch_of(sizes, options));
  EXPECT_EQ(sentences_of(epoch_of(sizes, options)), first);
  EXPECT_NE(sentences_of(epoch_of(sizes, options, 1)), first);
  EXPECT_NE(sentences_of(epoch_of(sizes, {.seed = 2, .batch_tokens = 200, .window_batches = 10})), first);
}

TEST(Batcher, ResumesFromEveryCursor) {
  const auto sizes = random_sizes(300);
  const BatcherOptions options{.seed = 9, .batch_tokens = 100, .window_batches = 8};
  Batcher whole(sizes_of(sizes), options);
  std::vector<BatchCursor> cursors;
  std::vector<Batch> batches;
  while (whole.cursor().epoch < 3) {
    cursors.push_back(whole.cursor());
    batches.push_back(whole.next());
  }
  ASSERT_GT(cursors.size(), 100u);
  for (size_t start = 0; start < cursors.size(); ++start) {
    Batcher resumed(sizes_of(sizes), options, cursors[start]);
    for (size_t n = start; n < std::min(start + 12, batches.size()); ++n) {  // 12: into the next window
      ASSERT_EQ(resumed.cursor(), cursors[n]);
      ASSERT_EQ(resumed.next().sentences, batches[n].sentences) << "from " << start << " at " << n;
    }
  }
}

TEST(Batcher, RefusesInvalidOptions) {
  const auto sizes = random_sizes(100);
  const auto make = [&](BatcherOptions options, BatchCursor cursor = {}) {
    Batcher(sizes_of(sizes), options, cursor);
  };
  expect_error(ErrorKind::kUsage, "at least 1 token, not 0", [&] { make({.batch_tokens = 0}); });
  expect_error(ErrorKind::kUsage, "at least 1 batch, not -1", [&] { make({.window_batches = -1}); });
  const std::vector<SentenceSize> none;
  expect_error(ErrorKind::kUsage, "no sentences", [&] { Batcher(sizes_of(none), {}); });
  expect_error(ErrorKind::kFormat, "batch 0 of window 1, does not exist", [&] { make({}, {.window = 1}); });
  expect_error(ErrorKind::kFormat, "batch 1000 of window 0, does not exist",
               [&] { make({}, {.batch = 1000}); });
}

// Recorded from this implementation: whoever changes the order changes what a resumed training sees.
TEST(Batcher, OrderMatchesGolden) {
  const std::vector<SentenceSize> sizes{{3, 4}, {5, 5}, {2, 2}, {9, 8}, {1, 1},
                                        {4, 6}, {7, 7}, {2, 3}, {6, 5}, {3, 3}};
  Batcher batcher(sizes_of(sizes), {.seed = 1, .batch_tokens = 12, .window_batches = 2});
  std::vector<std::vector<uint64_t>> order;
  while (batcher.cursor().epoch < 2) order.push_back(batcher.next().sentences);
  const std::vector<std::vector<uint64_t>> expected{{7, 0, 8}, {3},       {6}, {5},          {4, 2, 9, 1},
                                                    {5},       {2, 0, 1}, {6}, {4, 7, 9, 8}, {3}};
  EXPECT_EQ(order, expected);
}

TEST(SizesOf, ReadsACorpus) {
  const TestFolder folder;
  const std::vector<int32_t> two{1, 2}, three{1, 2, 3};
  CorpusWriter pairs(folder.path("pairs"), 2, 10);
  pairs.add(two, three);
  pairs.add(three, three);
  pairs.commit({}, {.written = 2});
  const Corpus corpus(folder.path("pairs"));
  const SentenceSizes sizes = sizes_of(corpus);
  EXPECT_EQ(sizes.count, 2u);
  EXPECT_EQ(sizes.source_tokens, 5u);
  EXPECT_EQ(sizes.target_tokens, 6u);
  EXPECT_EQ(sizes.at(0), (SentenceSize{2, 3}));

  CorpusWriter text(folder.path("text"), 1, 10);
  text.add(std::vector<std::span<const int32_t>>{two});
  text.commit({}, {.written = 1});
  const Corpus text_corpus(folder.path("text"));
  EXPECT_EQ(sizes_of(text_corpus).at(0), (SentenceSize{0, 2}));
  EXPECT_EQ(sizes_of(text_corpus).source_tokens, 0u);
}

TEST(LengthSortedBatches, RestoreTheOrder) {
  const auto sizes = random_sizes(500);
  const auto batches = length_sorted_batches(sizes_of(sizes), 200);
  expect_each_once(batches, sizes.size());
  int32_t last = INT32_MAX;
  std::vector<SentenceSize> results(sizes.size());
  for (const Batch& batch : batches) {
    expect_consistent(batch, sizes, 200);
    for (size_t n = 0; n < batch.sentences.size(); ++n) {
      EXPECT_LE(batch.sizes[n].target, last);
      last = batch.sizes[n].target;
      results[batch.sentences[n]] = batch.sizes[n];
    }
  }
  EXPECT_EQ(results, sizes);
  const std::vector<SentenceSize> none;
  EXPECT_TRUE(length_sorted_batches(sizes_of(none), 200).empty());
}

TEST(SplitIntoShards, BalancesCost) {
  const auto sizes = random_sizes(5000);
  for (const Batch& batch : epoch_of(sizes, {.batch_tokens = 3000})) {
    for (const size_t shards : {1, 2, 8, 13}) {
      const ShardWeights weights{.source = 1, .target = 1.5};
      const auto parts = split_into_shards(batch, shards, weights);
      ASSERT_EQ(parts.size(), shards);
      std::vector<uint64_t> all = sentences_of(parts), expected = batch.sentences;
      std::ranges::sort(all);
      std::ranges::sort(expected);
      ASSERT_EQ(all, expected);
      double low = 1e9, high = 0, largest = 0;
      for (const Batch& part : parts) {
        const double cost =
            1.0 * static_cast<double>(part.source_tokens) + 1.5 * static_cast<double>(part.target_tokens);
        low = std::min(low, cost);
        high = std::max(high, cost);
      }
      for (const SentenceSize& size : batch.sizes)
        largest = std::max(largest, size.source + 1.5 * size.target);
      // A part gets a sentence only while it is the lightest, so none is heavier than another by more than
      // one.
      EXPECT_LE(high - low, largest);
    }
  }
}

TEST(SplitIntoShards, FewSentencesLeaveShardsEmpty) {
  Batch batch;
  batch.add(7, {3, 3});
  batch.add(5, {4, 4});
  const auto parts = split_into_shards(batch, 4);
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[0].sentences, std::vector<uint64_t>{5});
  EXPECT_EQ(parts[1].sentences, std::vector<uint64_t>{7});
  EXPECT_TRUE(parts[2].sentences.empty());
  EXPECT_TRUE(parts[3].sentences.empty());
}

}  // namespace
}  // namespace heed
