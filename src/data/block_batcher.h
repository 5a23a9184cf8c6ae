// Blocks of a running text for training a language model, in an order that is a function of (seed, place)
// alone, for a text of any length.
//
// Every epoch cuts the text into blocks of equal length, beginning at another place each time, so that a
// token is met in another part of a block, and gives them out in a new random order (permutation.h).
#pragma once

#include <cstdint>
#include <optional>

#include "base/rng.h"
#include "data/batcher.h"
#include "data/permutation.h"

namespace heed {

struct BlockBatcherOptions {
  uint64_t seed = 1;
  uint64_t block = 256;  ///< tokens
  uint64_t blocks = 16;  ///< of a batch
};

class BlockBatcher {
 public:
  /// Blocks lie in [begin, end) of the text, which is one block at least. Starts at `place`. Throws kFormat
  /// for a place that does not exist here, because text or options have changed since it was saved.
  BlockBatcher(uint64_t begin, uint64_t end, BlockBatcherOptions options, BatchCursor place = {});

  /// The next batch; never ends. Its sentences are the first tokens of its blocks; a batch may take its last
  /// blocks from the next epoch.
  Batch next();
  /// Of the batch that next() will return: `batch` counts the blocks of the epoch.
  const BatchCursor& cursor() const { return place_; }
  /// How many epochs were given out, with the part of the one under way.
  double epochs() const {
    return static_cast<double>(place_.epoch) +
           static_cast<double>(place_.batch) / static_cast<double>(order_->size());
  }

 private:
  void begin_epoch();

  uint64_t begin_, end_;
  BlockBatcherOptions options_;
  BatchCursor place_;
  uint64_t first_ = 0;                // where the epoch's blocks begin
  std::optional<Permutation> order_;  // of the epoch's blocks
};

/// All of [begin, end) in blocks, the last perhaps shorter; or so many of them (0: all), evenly spread. For
/// validating.
std::vector<Batch> running_blocks(uint64_t begin, uint64_t end, uint64_t block, uint64_t most_blocks,
                                  uint64_t blocks_of_a_batch);

}  // namespace heed
