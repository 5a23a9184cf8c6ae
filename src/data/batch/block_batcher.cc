#include "data/batch/block_batcher.h"

#include <algorithm>

#include "base/check.h"

namespace heed {

BlockBatcher::BlockBatcher(uint64_t begin, uint64_t end, BlockBatcherOptions options, BatchCursor cursor)
    : begin_(begin), end_(end), options_(options), cursor_(cursor) {
  HEED_CHECK(options.block >= 1 && options.blocks >= 1 && begin <= end && end - begin >= options.block);
  begin_epoch();
  if (cursor.window != 0 || cursor.batch >= order_->size()) {
    fail(ErrorKind::kFormat,
         "the saved position, block {}, does not exist: the text or the block size has changed",
         cursor.batch);
  }
}

void BlockBatcher::begin_epoch() {
  const RandomKey epoch = RandomKey::from_seed(options_.seed).fold(cursor_.epoch);
  const uint64_t spare = end_ - begin_ - options_.block;  // tokens before the first block, at most
  first_ = begin_ + Random(epoch.fold(1)).below(std::min(spare + 1, options_.block));
  order_.emplace(epoch.fold(0), (end_ - first_) / options_.block);
}

Batch BlockBatcher::next() {
  Batch batch;
  for (uint64_t n = 0; n < options_.blocks; ++n) {
    const uint64_t number = (*order_)(cursor_.batch);
    batch.add(first_ + number * options_.block, {0, static_cast<int32_t>(options_.block)});
    ++cursor_.batch;
    if (cursor_.batch == order_->size()) {
      cursor_ = {cursor_.epoch + 1, 0, 0};
      begin_epoch();
    }
  }
  return batch;
}

std::vector<Batch> running_blocks(uint64_t begin, uint64_t end, uint64_t block, uint64_t most_blocks,
                                  uint64_t blocks_of_a_batch) {
  HEED_CHECK(begin < end && block >= 1 && blocks_of_a_batch >= 1);
  const uint64_t all = (end - begin - 1) / block + 1;
  const uint64_t count = most_blocks == 0 ? all : std::min(all, most_blocks);
  std::vector<Batch> batches;
  for (uint64_t n = 0; n < count; ++n) {
    // The n-th of `count` evenly spaced numbers below `all`, without overflow.
    const uint64_t number = n * (all / count) + n * (all % count) / count;
    const uint64_t first = begin + number * block;
    if (n % blocks_of_a_batch == 0) batches.emplace_back();
    batches.back().add(first, {0, static_cast<int32_t>(std::min(block, end - first))});
  }
  return batches;
}

}  // namespace heed
