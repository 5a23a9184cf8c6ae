// Which rows of the key/value caches hold the words of each hypothesis of a search (nn/key_value_cache.h).
//
// Every word that a hypothesis takes has a row of its own, the same in the caches of all layers, and never
// moves. A hypothesis is the list of the rows of its words: those that continue the same one share its rows,
// and all hypotheses of a sentence share those of its prompt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/generator.h"
#include "nn/key_value_cache.h"

namespace heed::models {

class CacheRows {
 public:
  /// A new sentence, with rows for a prompt of so many words. Returns its number, which release() frees.
  int32_t admit(int32_t prompt_words = 0);
  void release(int32_t sentence);
  std::span<const int32_t> prompt(int32_t sentence) const { return sentences_[sentence].prompt; }

  /// What a model does next with the hypotheses of a step.
  struct Step {
    nn::StepLayout layout;             ///< each sees its own words so far, and one new row
    std::vector<int32_t> ids, places;  ///< of the new words
  };
  Step step(const std::vector<StepRow>& rows);

  /// Rows that the caches must have.
  int64_t size() const { return size_; }

 private:
  struct Sentence {
    bool live = false;
    std::vector<int32_t> prompt;  // rows of the words that all hypotheses begin with
    std::vector<int32_t> rows;    // all that its hypotheses ever took, and those of the prompt
  };
  int32_t take_row(Sentence& sentence);

  std::vector<Sentence> sentences_;
  std::vector<int32_t> free_;
  int32_t size_ = 0;
  std::vector<std::vector<int32_t>> paths_;  // for each row of the last step: the rows of its words
};

}  // namespace heed::models
