// Batches of sentences for training, in an order that is a function of (seed, epoch, position) alone, for any
// number of sentences and in memory for one window of them.
//
// Every epoch puts the sentences into a new random order (permutation.h) and cuts that into windows, each
// some batches' worth. A window is sorted by length and cut into batches, so that the sentences of a batch
// are about as long as each other; then the batches of the window are shuffled.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/corpus.h"

namespace heed {

/// Tokens of a sentence on each side; a text without a source has 0 there.
struct SentenceSize {
  int32_t source = 0, target = 0;
  bool operator==(const SentenceSize&) const = default;
};

/// The sizes of all sentences of a corpus.
struct SentenceSizes {
  uint64_t count = 0;
  uint64_t source_tokens = 0, target_tokens = 0;  ///< of all of them together
  std::function<SentenceSize(uint64_t)> at;       ///< of one of them
};

/// Of a corpus of source and target, or of text alone, which counts as target. The corpus must outlive the
/// result.
SentenceSizes sizes_of(const Corpus& corpus);
/// Of a list, which must outlive the result.
SentenceSizes sizes_of(const std::vector<SentenceSize>& list);

struct Batch {
  std::vector<uint64_t> sentences;  ///< their numbers in the corpus
  std::vector<SentenceSize> sizes;  ///< as many
  int64_t source_tokens = 0, target_tokens = 0;

  void add(uint64_t sentence, SentenceSize size);
};

/// Where a Batcher stands: all of its state. Of the batch to come next.
struct BatchCursor {
  uint64_t epoch = 0;   ///< how many times every sentence has been given out
  uint64_t window = 0;  ///< within the epoch
  uint64_t batch = 0;   ///< within the window
  bool operator==(const BatchCursor&) const = default;
};

struct BatcherOptions {
  uint64_t seed = 1;
  /// The source tokens of a batch add up to this at most, and so do its target tokens. A longer sentence
  /// makes a batch of its own.
  int64_t batch_tokens = 4096;
  /// About how many batches are sorted by length together. More make the sentences of a batch more alike,
  /// fewer make the order more random.
  int64_t window_batches = 100;
};

class Batcher {
 public:
  /// Starts at `start`. Throws kUsage for options that make no sense or for no sentences, kFormat for a
  /// cursor that does not exist here, because data or options have changed since it was saved.
  Batcher(SentenceSizes sizes, BatcherOptions options, BatchCursor start = {});

  /// The next batch; never ends. Every sentence stands in exactly one batch of each epoch.
  Batch next();
  /// Of the batch that next() will return.
  const BatchCursor& cursor() const { return cursor_; }
  /// How many epochs were given out, with the part of the one under way.
  double epochs() const;
  /// Windows of an epoch, the last of which may be shorter.
  uint64_t windows() const { return windows_; }

 private:
  void fill_window();

  SentenceSizes sizes_;
  BatcherOptions options_;
  BatchCursor cursor_;
  uint64_t window_sentences_ = 0, windows_ = 0;
  std::vector<Batch> window_;  // the batches of the window at the cursor, in order
};

/// Cuts all sentences into batches by length, longest first, under the same limit; for translating and
/// validating. Each sentence stands in exactly one batch, and `sentences` says where its result belongs.
std::vector<Batch> length_sorted_batches(const SentenceSizes& sizes, int64_t batch_tokens);

/// What a token costs, to cut a batch evenly: a target token passes cross-attention and the vocabulary as
/// well.
struct ShardWeights {
  double source = 1, target = 2;
};

/// Cuts a batch into exactly `shards` parts of about equal cost, some perhaps empty: each sentence, the
/// costliest first, goes to the part that costs least so far. Sentences keep their order within a part.
std::vector<Batch> split_into_shards(const Batch& batch, size_t shards, ShardWeights weights = {});

}  // namespace heed
