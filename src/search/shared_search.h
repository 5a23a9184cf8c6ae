// A thread pool that runs the searches of many callers and models together. Continuous batching: sentences of
// different callers are rows of the same batch; finished ones leave it, and waiting ones take their place.
// Callers that wait for the same model get fair shares by tokens: of those that wait, the one that has had
// least so far is next, and none fills a batch, so that a long document does not delay a short sentence. Each
// thread has one batch per model and steps them round-robin. Results are those of Search::run, bit for bit
// (search/search_batch.h).
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "search/search.h"

namespace heed::search {

class SharedSearch : public SearchExecutor {
 public:
  struct Options {
    int threads = 0;           ///< 0: one per processor
    SearchBudget budget = {};  ///< per thread and model

    /// Called after each decoder step, from any thread, with its number of rows.
    std::function<void(size_t rows)> on_step = {};
    /// Called for each finished sentence, with the number of source tokens and of tokens of the best
    /// hypothesis.
    std::function<void(size_t source_tokens, size_t target_tokens)> on_sentence = {};
  };
  /// Throws std::system_error if the system starts no further thread.
  explicit SharedSearch(Options options);
  /// No call may be running.
  ~SharedSearch() override;

  int threads() const { return static_cast<int>(threads_.size()); }

  /// See SearchExecutor. Thread-safe. The model of `search` must outlive this.
  void run(const Search& search, std::vector<SearchSentence> sentences, const Search::TakeHypotheses& take,
           const Search::Control& control) override;

  /// Runs `work` on one of as many other threads, and waits for it: for computations that are no searches,
  /// and for what comes before them, which may take long. Scheduled round-robin over clients, whatever
  /// number of calls each has. Throws the errors of `work`.
  void call(const std::string& client, const std::function<void()>& work);

  /// Number of sentences that are not in a batch yet.
  size_t waiting() const;

 private:
  class Job;
  struct Lane;
  struct Call;
  struct ClientCalls {
    std::string client;
    std::deque<Call*> waiting = {};
  };
  void end_threads();
  void work();
  void work_on_calls();
  void enqueue(const std::string& client, Call& call);
  Call& next_call();
  Lane& lane_of(const Search& search);
  void drop_cancelled(Lane& lane);
  void fail_waiting(Lane& lane, const std::exception_ptr& error);
  std::vector<SearchBatch::Entry> take(Lane& lane, const SearchBatch& batch);

  Options options_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable wake_, wake_for_calls_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // one per model; batches refer to them by index
  std::list<ClientCalls> calls_;              // of clients with waiting ones; the first is next
  bool stopping_ = false;
  std::vector<std::thread> threads_, call_threads_;
};

}  // namespace heed::search
