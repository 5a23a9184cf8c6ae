// Allocates the rows of the key-value caches for the hypotheses of a search (nn/storage/key_value_cache.h).
//
// Each token of a hypothesis has a row, the same in the caches of all layers, which never moves. A hypothesis
// is a list of rows. Hypotheses with a common prefix share its rows, and all hypotheses of a sentence share
// those of its prompt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/autoregressive_model.h"
#include "nn/storage/key_value_cache.h"

namespace heed::models {

class CacheRows {
 public:
  /// Adds a sentence with a prompt of this many tokens. Returns its number, which release() frees.
  int32_t admit(int32_t prompt_tokens = 0);
  void release(int32_t sentence);
  std::span<const int32_t> prompt(int32_t sentence) const { return sentences_[sentence].prompt; }

  /// The layout of the next step.
  struct Step {
    nn::StepLayout layout;  ///< each hypothesis attends to its own tokens, including the new one
    std::vector<int32_t> ids, positions;  ///< of the new tokens
  };
  Step step(const std::vector<StepRow>& rows);

  /// The required number of cache rows.
  int64_t size() const { return size_; }

 private:
  struct Sentence {
    bool live = false;
    std::vector<int32_t> prompt;  // rows of the tokens of the prompt
    std::vector<int32_t> rows;    // all rows of its hypotheses so far, and those of the prompt
    std::vector<int32_t> drafts;  // of these, the rows of drafts of the last step
  };
  int32_t take_row(Sentence& sentence);
  /// Frees the rows of drafts of the last step that a hypothesis of the next one, the only one of the
  /// sentence, does not continue.
  void drop_drafts(Sentence& sentence, std::span<const int32_t> path);

  std::vector<Sentence> sentences_;
  std::vector<int32_t> free_;
  int32_t size_ = 0;
  std::vector<std::vector<int32_t>> paths_;  // for each row of the last step: the rows of its tokens
};

}  // namespace heed::models
