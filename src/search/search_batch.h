// The sentences that one thread decodes together, of one or several callers. The hypotheses of all sentences
// are the rows of one batch. Finished sentences leave the batch and waiting ones take their place. Rows do
// not interact, neither in the model nor here, so results are batch-invariant bit for bit, and callers may
// use different search options.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "search/ngram_drafts.h"
#include "search/sentence_search.h"
#include "search/work_queue.h"

namespace heed::search {

/// Limits of a batch. A single sentence may exceed them if necessary.
struct SearchBudget {
  /// Maximum number of hypotheses per step. Matrix products are at full speed from about 16 rows up; more
  /// rows only take memory.
  size_t rows = 64;
  size_t source_tokens = 4096;  ///< maximum total of source tokens in the batch
};

/// Rows and source tokens, of a batch or a part of it.
struct SearchLoad {
  size_t rows = 0, tokens = 0;
  SearchLoad& operator+=(const SearchLoad& more) {
    rows += more.rows;
    tokens += more.tokens;
    return *this;
  }
};

/// Owner of sentences in a batch. Each sentence ends in exactly one call of take(), fail() or drop().
class SearchCaller {
 public:
  virtual ~SearchCaller() = default;
  virtual const SearchOptions& options() const = 0;
  /// Checked before each step; once true, the caller's sentences leave the batch.
  virtual bool cancelled() const = 0;
  /// Whether to call show() after each step, with the tokens so far of sentences with a single hypothesis.
  virtual bool shows() const { return false; }
  virtual void show(uint64_t /*number*/, const std::vector<int32_t>& /*ids*/) {}

  /// Called after each step for each sentence, with its number of rows in the step.
  virtual void charge(size_t /*rows*/) {}

  virtual void take(uint64_t number, std::vector<Hypothesis> hypotheses) = 0;
  virtual void fail(std::exception_ptr error) = 0;
  virtual void drop() = 0;  ///< the sentence was cancelled
};

class SearchBatch {
 public:
  /// Model, parameters and callers must outlive the batch.
  SearchBatch(const models::AutoregressiveModel& model, const nn::Context& context,
              const SearchBudget& budget);
  ~SearchBatch();

  struct Entry {
    SearchCaller* caller = nullptr;
    SearchSentence sentence = {};
  };

  bool empty() const { return live_.empty(); }
  size_t sentences() const { return live_.size(); }
  /// Free capacity. 0 rows until a quarter of the batch is free, so that several sentences are encoded
  /// together.
  size_t free_rows() const;
  /// The sum of all sentences, and of those of a caller.
  SearchLoad load() const { return {width_, tokens_}; }
  SearchLoad load_of(const SearchCaller& caller) const;
  /// The number of rows of the caller that has most.
  size_t most_rows() const;
  size_t free_tokens() const { return budget_.source_tokens > tokens_ ? budget_.source_tokens - tokens_ : 0; }

  /// Encodes the sentences. Either all sentences of a batch must use a shortlist, or none. An error, such as
  /// memory that runs out, goes to the callers' fail().
  void admit(std::vector<Entry> entries);
  /// Runs a decoder step and removes finished, failed and cancelled sentences. Returns the number of rows.
  /// Errors go to the callers, as above.
  size_t step();

 private:
  struct Live {
    SearchCaller* caller = nullptr;
    uint64_t number = 0;       // the caller's number
    int32_t state_number = 0;  // number in the decoder state
    size_t tokens = 0, width = 0;
    std::vector<int32_t> shortlist;  // empty: all
    std::unique_ptr<SentenceSearch> search;
    NgramDrafts drafts;
    std::vector<int32_t> draft = {};  // the tokens guessed in the last step, after those of search->rows()
    int32_t first_row = 0;            // in the last step
    bool left = false;
  };
  void require_readable(const SearchSentence& sentence) const;
  std::vector<models::StepRow> gather_rows();
  /// The draft of a sentence for the next step.
  std::vector<int32_t> next_draft(Live& live) const;
  /// Reads the logits of the rows of a sentence: those of its hypotheses, then of right drafts.
  void read(Live& live, std::span<float> logits, size_t columns);
  void advance(Live& live, std::span<float> logits);
  void leave(Live& live);
  void fail_all(const std::exception_ptr& error);
  void erase_left();

  const models::AutoregressiveModel& model_;
  nn::Context context_;
  SearchBudget budget_;
  std::unique_ptr<models::DecoderState> state_;  // null before the first sentence and after an error
  std::vector<Live> live_;
  size_t tokens_ = 0, width_ = 0;  // of all live sentences
};

}  // namespace heed::search
