// The sentences that one thread decodes together, on behalf of one caller or of several.
//
// The hypotheses of all sentences are the rows of one batch. A sentence that is done leaves it and makes room
// for others. Rows never interact, neither in the model nor here, so a sentence's result does not depend on
// what else is in the batch, to the last bit; callers may use different search options.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "decode/sentence_search.h"
#include "decode/work_queue.h"

namespace heed::decode {

/// Limits of a batch. A single sentence may exceed them if necessary.
struct SearchBudget {
  /// Hypotheses in a step. Matrix products are at full speed from some 16 rows up; more rows than this only
  /// take memory.
  size_t rows = 64;
  size_t source_tokens = 4096;  ///< of all sentences in the batch
};

/// Owner of sentences in a batch. Each sentence ends in exactly one call of take(), fail() or drop().
class SearchCaller {
 public:
  virtual ~SearchCaller() = default;
  virtual const SearchOptions& options() const = 0;
  /// Asked before each step; once true, the caller's sentences leave the batch.
  virtual bool cancelled() const = 0;
  /// Whether show() is wanted: the words so far of a sentence with one hypothesis, after each step.
  virtual bool shows() const { return false; }
  virtual void show(uint64_t /*number*/, const std::vector<int32_t>& /*ids*/) {}

  virtual void take(uint64_t number, std::vector<Hypothesis> hypotheses) = 0;
  virtual void fail(std::exception_ptr error) = 0;
  virtual void drop() = 0;  ///< the sentence was cancelled
};

class SearchBatch {
 public:
  /// Model, parameters and callers must outlive the batch.
  SearchBatch(const models::Generator& model, const nn::Context& context, const SearchBudget& budget);
  ~SearchBatch();

  struct Entry {
    SearchCaller* caller = nullptr;
    SearchSentence sentence = {};
  };

  bool empty() const { return live_.empty(); }
  size_t sentences() const { return live_.size(); }
  /// Room for more. No rows until a quarter of the batch is free: sentences that come together are encoded
  /// together.
  size_t free_rows() const;
  size_t free_tokens() const { return budget_.source_tokens > tokens_ ? budget_.source_tokens - tokens_ : 0; }

  /// Encodes the sentences. All sentences in the batch must use a shortlist, or none.
  void admit(std::vector<Entry> entries);
  /// One decoder step; sentences that are done, failed or cancelled leave. Returns the number of rows.
  size_t step();

 private:
  struct Live {
    SearchCaller* caller = nullptr;
    uint64_t number = 0;       // as the caller knows it
    int32_t state_number = 0;  // as the state knows it
    size_t tokens = 0, width = 0;
    std::vector<int32_t> words;  // that its translation may hold; none: all
    std::unique_ptr<SentenceSearch> search;
    int32_t first_row = 0;  // of its rows in the last step
    bool left = false;
  };
  void require_readable(const SearchSentence& sentence) const;
  std::vector<models::StepRow> gather_rows();
  void advance(Live& live, std::span<float> logits);
  void leave(Live& live);
  void fail_all(const std::exception_ptr& error);
  void erase_left();

  const models::Generator& model_;
  nn::Context context_;
  SearchBudget budget_;
  std::unique_ptr<models::DecoderState> state_;
  std::vector<Live> live_;
  size_t tokens_ = 0, width_ = 0;  // of all live sentences
};

}  // namespace heed::decode
