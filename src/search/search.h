// Batched search on one thread.
//
// The hypotheses of all sentences are the rows of one batch. Finished sentences leave the batch and waiting
// ones take their place, which keeps matrix products large. Results are batch-invariant bit for bit: rows do
// not interact, neither in the model nor here.
#pragma once

#include <functional>
#include <vector>

#include "base/stop.h"
#include "base/thread_pool.h"
#include "search/search_batch.h"
#include "search/sentence_search.h"
#include "search/work_queue.h"

namespace heed::search {

class Search {
 public:
  /// `context` has the model's parameters; its table, values and the model must outlive the search. Throws
  /// kUsage for invalid options.
  Search(const models::AutoregressiveModel& model, const nn::Context& context, const SearchOptions& options,
         const SearchBudget& budget = {});

  /// Returns the next sentences; empty at the end.
  using NextSentences = std::function<std::vector<SearchSentence>(const SearchRoom& room)>;
  /// Called for each finished sentence, in any order.
  using TakeHypotheses = std::function<void(uint64_t number, std::vector<Hypothesis> hypotheses)>;

  /// With a single hypothesis: called after each step with its tokens so far.
  using ShowTokens = std::function<void(uint64_t number, const std::vector<int32_t>& ids)>;

  /// Cancellation and progress.
  struct Control {
    Stop stop = {};
    ShowTokens show = {};
  };

  /// Searches until there are no more sentences. Throws Cancelled soon after control.stop is requested, and
  /// kUsage for an empty sentence or one longer than the model's maximum.
  void run(const NextSentences& next, const TakeHypotheses& take, const Control& control) const;
  void run(const NextSentences& next, const TakeHypotheses& take) const { run(next, take, {}); }

  /// Translates all sentences and returns the results in order; their numbers must be 0, 1, 2, ...
  std::vector<std::vector<Hypothesis>> run(std::vector<SearchSentence> sentences) const;

  /// The effective options: without a shortlist if the search does not use it.
  const SearchOptions& options() const { return options_; }
  const models::AutoregressiveModel& model() const { return model_; }
  const nn::Context& context() const { return context_; }

 private:
  const models::AutoregressiveModel& model_;
  nn::Context context_;
  SearchOptions options_;
  SearchBudget budget_;
};

/// Searches all sentences with one search per thread of the pool. `take` is called concurrently for several
/// sentences. Throws like Search::run.
void search_all(const Search& search, std::vector<SearchSentence> sentences, ThreadPool& pool,
                const Search::TakeHypotheses& take, const Search::Control& control = {});

/// Runs searches on shared threads: search/shared_search.h.
class SearchExecutor {
 public:
  virtual ~SearchExecutor() = default;
  /// Searches all sentences. `take` and `control.show` are called from other threads, `take` for several
  /// sentences concurrently. Throws like Search::run.
  virtual void run(const Search& search, std::vector<SearchSentence> sentences,
                   const Search::TakeHypotheses& take, const Search::Control& control) = 0;
};

}  // namespace heed::search
