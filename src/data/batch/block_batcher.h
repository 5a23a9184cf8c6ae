// Training blocks of a continuous text for language models, in an order that is a function of (seed,
// position) alone, for a text of any length.
//
// Each epoch divides the text into blocks of equal length at a random offset, so that a token occurs at
// varying positions of a block, and returns them in a new random order (permutation.h).
#pragma once

#include <cstdint>
#include <optional>

#include "base/rng.h"
#include "data/batch/batcher.h"
#include "data/corpus/permutation.h"

namespace heed {

struct BlockBatcherOptions {
  uint64_t seed = 1;
  uint64_t block = 256;  ///< tokens per block
  uint64_t blocks = 16;  ///< blocks per batch
};

class BlockBatcher {
 public:
  /// Blocks are in [begin, end) of the text, which has at least one block. Starts at `cursor`. Throws kFormat
  /// for a position that does not exist because text or options have changed since it was saved.
  BlockBatcher(uint64_t begin, uint64_t end, BlockBatcherOptions options, BatchCursor cursor = {});

  /// The next batch; never ends. Its `sentences` are the indices of the first tokens of its blocks; its last
  /// blocks may belong to the next epoch.
  Batch next();
  /// The position of the batch that next() will return; `batch` counts the blocks of the epoch.
  const BatchCursor& cursor() const { return cursor_; }
  /// The number of epochs so far, with a fractional part.
  double epochs() const {
    return static_cast<double>(cursor_.epoch) +
           static_cast<double>(cursor_.batch) / static_cast<double>(order_->size());
  }

 private:
  void begin_epoch();

  uint64_t begin_, end_;
  BlockBatcherOptions options_;
  BatchCursor cursor_;
  uint64_t first_ = 0;                // offset of the epoch's first block
  std::optional<Permutation> order_;  // of the epoch's blocks
};

/// Divides [begin, end) into blocks for validation; the last may be shorter. With `most_blocks` > 0, only
/// that many, evenly spaced.
std::vector<Batch> running_blocks(uint64_t begin, uint64_t end, uint64_t block, uint64_t most_blocks,
                                  uint64_t blocks_of_a_batch);

}  // namespace heed
