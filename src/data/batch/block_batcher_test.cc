#include "data/batch/block_batcher.h"

#include <set>

#include "test_folder.h"

namespace heed {
namespace {

std::vector<uint64_t> firsts(BlockBatcher& batcher, int batches) {
  std::vector<uint64_t> all;
  for (int n = 0; n < batches; ++n) {
    const Batch batch = batcher.next();
    all.insert(all.end(), batch.sentences.begin(), batch.sentences.end());
  }
  return all;
}

TEST(BlockBatcher, EachTokenOncePerEpochExceptAtTheEnds) {
  BlockBatcher batcher(1, 1001, {.seed = 3, .block = 10, .blocks = 3});
  uint64_t epoch = 0;
  std::multiset<uint64_t> met;
  std::set<uint64_t> beginnings;
  while (epoch < 5) {
    const Batch batch = batcher.next();
    ASSERT_EQ(batch.sentences.size(), 3u);
    EXPECT_EQ(batch.target_tokens, 30);
    for (const uint64_t first : batch.sentences) {
      EXPECT_GE(first, 1u);
      EXPECT_LE(first + 10, 1001u);
      met.insert(first);
    }
    if (batcher.cursor().epoch != epoch) {
      epoch = batcher.cursor().epoch;
      beginnings.insert(*met.begin() % 10);
    }
  }
  EXPECT_GE(met.size(), 5 * 99u);
  EXPECT_GT(beginnings.size(), 1u) << "every epoch is cut at the same positions";
}

TEST(BlockBatcher, ResumesFromAnyPosition) {
  const BlockBatcherOptions options{.seed = 5, .block = 7, .blocks = 4};
  BlockBatcher whole(0, 100, options);
  const auto all = firsts(whole, 20);
  for (int done = 0; done < 20; ++done) {
    BlockBatcher before(0, 100, options);
    auto both = firsts(before, done);
    BlockBatcher after(0, 100, options, before.cursor());
    const auto rest = firsts(after, 20 - done);
    both.insert(both.end(), rest.begin(), rest.end());
    EXPECT_EQ(both, all) << done;
  }
  // The control: another seed, another order.
  BlockBatcher other(0, 100, {.seed = 6, .block = 7, .blocks = 4});
  EXPECT_NE(firsts(other, 20), all);
}

TEST(BlockBatcher, CountsFractionsOfEpochs) {
  BlockBatcher batcher(0, 100, {.block = 10, .blocks = 3});
  batcher.next();
  EXPECT_NEAR(batcher.epochs(), 0.3, 0.04);  // of 9 or 10 blocks
  while (batcher.epochs() < 1) batcher.next();
  EXPECT_EQ(batcher.cursor().epoch, 1u);
}

TEST(BlockBatcher, TextOfOneBlock) {
  BlockBatcher batcher(1, 9, {.block = 8, .blocks = 2});
  EXPECT_EQ(firsts(batcher, 2), (std::vector<uint64_t>{1, 1, 1, 1}));
}

TEST(BlockBatcher, RefusesInvalidPositions) {
  expect_error(ErrorKind::kFormat, "block 99, does not exist", [] {
    BlockBatcher(0, 100, {.block = 10, .blocks = 1}, {0, 0, 99});
  });
}

TEST(RunningBlocks, CoverTheTextOrAreEvenlySpaced) {
  const auto all = running_blocks(1, 24, 10, 0, 2);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].sentences, (std::vector<uint64_t>{1, 11}));
  EXPECT_EQ(all[1].sentences, (std::vector<uint64_t>{21}));
  EXPECT_EQ(all[1].target_tokens, 3);
  const auto some = running_blocks(0, 1000, 10, 4, 100);
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some[0].sentences, (std::vector<uint64_t>{0, 250, 500, 750}));
}

}  // namespace
}  // namespace heed
