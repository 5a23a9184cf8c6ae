// Length-bucketed training batches, in an order that is a function of (seed, epoch, position) alone, with
// memory for one window of sentences.
//
// Each epoch permutes the sentences (permutation.h) and divides them into windows of several batches. A
// window is sorted by length and divided into batches of similar length; then its batches are shuffled.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/corpus/corpus.h"

namespace heed {

/// Numbers of tokens of a sentence pair; `source` is 0 for text without a source.
struct SentenceSize {
  int32_t source = 0, target = 0;
  bool operator==(const SentenceSize&) const = default;
};

/// The sizes of all sentences of a corpus.
struct SentenceSizes {
  uint64_t count = 0;
  uint64_t source_tokens = 0, target_tokens = 0;  ///< totals
  std::function<SentenceSize(uint64_t)> at;       ///< the size of a sentence
};

/// The sizes of a corpus with source and target, or of text only, which counts as target. The corpus must
/// outlive the result.
SentenceSizes sizes_of(const Corpus& corpus);
/// The sizes in a list, which must outlive the result.
SentenceSizes sizes_of(const std::vector<SentenceSize>& list);

struct Batch {
  std::vector<uint64_t> sentences;  ///< indices in the corpus
  std::vector<SentenceSize> sizes;  ///< of these sentences
  int64_t source_tokens = 0, target_tokens = 0;

  void add(uint64_t sentence, SentenceSize size);
};

/// The position of the next batch: the whole state of a Batcher.
struct BatchCursor {
  uint64_t epoch = 0;   ///< completed epochs
  uint64_t window = 0;  ///< within the epoch
  uint64_t batch = 0;   ///< within the window
  bool operator==(const BatchCursor&) const = default;
};

struct BatcherOptions {
  uint64_t seed = 1;
  /// Maximum number of source tokens and of target tokens per batch. A longer sentence is a batch by
  /// itself.
  int64_t batch_tokens = 4096;
  /// Number of batches that are sorted by length together. Larger windows give more homogeneous batches,
  /// smaller ones a more random order.
  int64_t window_batches = 100;
};

class Batcher {
 public:
  /// Starts at `start`. Throws kUsage for invalid options or without sentences, kFormat for a cursor that
  /// does not exist because data or options have changed since it was saved.
  Batcher(SentenceSizes sizes, BatcherOptions options, BatchCursor start = {});

  /// The next batch; never ends. Every sentence is in exactly one batch of each epoch.
  Batch next();
  /// The position of the batch that next() will return.
  const BatchCursor& cursor() const { return cursor_; }
  /// The number of epochs so far, with a fractional part.
  double epochs() const;
  /// The number of windows per epoch; the last may be shorter.
  uint64_t windows() const { return windows_; }

 private:
  void fill_window();

  SentenceSizes sizes_;
  BatcherOptions options_;
  BatchCursor cursor_;
  uint64_t window_sentences_ = 0, windows_ = 0;
  std::vector<Batch> window_;  // the batches of the window at the cursor, in order
};

/// Divides all sentences into batches sorted by length, longest first, for inference and validation. Each
/// sentence is in exactly one batch; `sentences` has its index.
std::vector<Batch> length_sorted_batches(const SentenceSizes& sizes, int64_t batch_tokens);

/// Relative cost of a token for balancing shards: a target token also passes through cross-attention and
/// output layer.
struct ShardWeights {
  double source = 1, target = 2;
};

/// Splits a batch into exactly `shards` shards of similar cost, some possibly empty: assigns each sentence,
/// the most costly first, to the cheapest shard so far. Sentences keep their order within a shard.
std::vector<Batch> split_into_shards(const Batch& batch, size_t shards, ShardWeights weights = {});

}  // namespace heed
