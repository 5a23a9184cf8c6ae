// One set of threads on which the searches of many callers and models run together.
//
// Continuous batching: sentences of different callers are rows of the same batch, leave it when they are
// done, and waiting ones take their place. Callers that wait for the same model are served in turn, so that a
// long document does not delay a short sentence. Each thread has a batch for each model and steps them in
// turn. Results are those of Search::run, to the last bit (decode/search_batch.h).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "decode/search.h"

namespace heed::decode {

class SharedSearch : public SearchExecutor {
 public:
  struct Options {
    int threads = 0;           ///< 0: one per processor
    SearchBudget budget = {};  ///< of each thread and model
    /// Told of each decoder step, from any of the threads: the rows that it had.
    std::function<void(size_t rows)> on_step = {};
    /// Told of each sentence that is done: tokens that were read, and tokens of its best hypothesis.
    std::function<void(size_t source_tokens, size_t target_tokens)> on_sentence = {};
  };
  explicit SharedSearch(Options options);
  /// No call may be under way.
  ~SharedSearch() override;

  int threads() const { return static_cast<int>(threads_.size()); }

  /// As in SearchExecutor; for calls from any number of threads. The model of `search` must outlive this.
  bool run(const Search& search, std::vector<SearchSentence> sentences, const Search::TakeHypotheses& take,
           const Search::Control& control) override;

  /// Does other work on one of the threads, between two steps, and waits for it. Throws what `work` throws.
  void call(const std::function<void()>& work);

  /// Sentences that are in no batch yet.
  size_t waiting() const;

 private:
  class Job;
  struct Lane;
  struct Call;
  void work();
  Lane& lane_of(const Search& search);
  std::vector<SearchBatch::Entry> take(Lane& lane, const SearchBatch& batch);

  Options options_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable wake_;
  std::deque<Lane> lanes_;  // one for each model; batches refer to them by their place
  std::deque<Call*> calls_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace heed::decode
