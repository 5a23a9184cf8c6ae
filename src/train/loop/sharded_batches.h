// The batches of a batcher (data/batch/batcher.h, data/batch/block_batcher.h), each split into shards.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "data/batch/batcher.h"
#include "data/corpus/corpus.h"
#include "train/tasks/task.h"

namespace heed::train {

template <typename Batcher>
class ShardedBatches : public BatchSource {
 public:
  explicit ShardedBatches(Batcher batcher) : batcher_(std::move(batcher)) {}
  BatchCursor cursor() const override { return batcher_.cursor(); }
  double epochs() const override { return batcher_.epochs(); }
  std::vector<Batch> next(size_t shards) override { return split_into_shards(batcher_.next(), shards); }

 private:
  Batcher batcher_;
};

/// The sentences of a corpus in batches of about equal lengths, shuffled.
inline std::unique_ptr<BatchSource> shuffled_batches(const Corpus& corpus, const BatcherOptions& options,
                                                     const BatchCursor& cursor) {
  return std::make_unique<ShardedBatches<Batcher>>(Batcher(sizes_of(corpus), options, cursor));
}

}  // namespace heed::train
