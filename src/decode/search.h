// Many sentences searched at once on one thread.
//
// Their hypotheses are the rows of one batch. A sentence that is done leaves it, and waiting ones take its
// place, so the matrix products stay large to the end. Which sentences are together changes nothing in their
// translations, to the last bit: rows meet nowhere, neither in the model nor here.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "decode/search_batch.h"
#include "decode/sentence_search.h"
#include "decode/work_queue.h"

namespace heed::decode {

class Search {
 public:
  /// The model's parameters are those of `context`, whose table, values and model must outlive the search.
  /// Throws kUsage for options that make no sense.
  Search(const models::Generator& model, const nn::Context& context, const SearchOptions& options,
         const SearchBudget& budget = {});

  /// Sentences to be searched next; none where there are no more.
  using NextSentences = std::function<std::vector<SearchSentence>(const SearchRoom& room)>;
  /// Told of each sentence that is done, in the order in which they happen to be.
  using TakeHypotheses = std::function<void(uint64_t number, std::vector<Hypothesis> hypotheses)>;

  /// Told, where one hypothesis alone is followed, of its words so far, after each step.
  using ShowWords = std::function<void(uint64_t number, const std::vector<int32_t>& ids)>;

  /// What callers may want to know or do while it runs.
  struct Control {
    const std::atomic<bool>* cancelled = nullptr;  ///< stops soon after it is set
    ShowWords show = {};
  };

  /// Translates until there are no more sentences. Returns false where it was cancelled before that.
  /// Throws kUsage for a sentence longer than the model's positions, or without words.
  bool run(const NextSentences& next, const TakeHypotheses& take, const Control& control) const;
  bool run(const NextSentences& next, const TakeHypotheses& take) const { return run(next, take, {}); }

  /// The translations of all sentences, in their order; their numbers must be 0, 1, 2, ...
  std::vector<std::vector<Hypothesis>> run(std::vector<SearchSentence> sentences) const;

  /// The options as they are applied: without a shortlist that they do not use.
  const SearchOptions& options() const { return options_; }
  const models::Generator& model() const { return model_; }
  const nn::Context& context() const { return context_; }

 private:
  const models::Generator& model_;
  nn::Context context_;
  SearchOptions options_;
  SearchBudget budget_;
};

/// Where searches run: decode/shared_search.h, instead of threads of their own.
class SearchExecutor {
 public:
  virtual ~SearchExecutor() = default;
  /// Searches all sentences and returns, false if it was cancelled before. `take` and `control.show` are
  /// called from other threads, `take` for several sentences at once. Throws as Search::run does.
  virtual bool run(const Search& search, std::vector<SearchSentence> sentences,
                   const Search::TakeHypotheses& take, const Search::Control& control) = 0;
};

}  // namespace heed::decode
