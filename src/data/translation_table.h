// How probable a word is as the translation of another, learnt from pairs of sentences.
//
// Model 1 of Brown et al., "The mathematics of statistical machine translation: parameter estimation" (1993):
// every word of a target is the translation of one word of its source, whichever, and the order says nothing.
//
//   p(target | source) ~ prod_j sum_i t(target_j | source_i)
//
// Expectation maximisation finds the probabilities t, from equal ones on. The end token of a source takes the
// part of the paper's empty word, from which words come that translate nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/sequences.h"

namespace heed {

class TranslationTable {
 public:
  /// t(target | source) of pairs of sequences of ids below `vocabulary`, as many sources as targets.
  TranslationTable(const Sequences& sources, const Sequences& targets, int64_t vocabulary,
                   int iterations = 5);

  struct Translation {
    int32_t word = 0;
    float probability = 0;
  };
  /// Of a source word, likeliest first, of equal ones the lower id; none of a word that was never met.
  std::vector<Translation> of(int32_t source) const;

  // -- For models that begin with these probabilities, and learn others for the same pairs of words.
  /// How many pairs of words were met.
  size_t size() const { return targets_.size(); }
  /// The number of a pair of words; size() of one that was never met.
  size_t find(int32_t source, int32_t target) const;
  float probability(size_t number) const { return probabilities_[number]; }
  /// Makes t(target | source) the share that each pair has of the counts of its source word.
  void set_counts(const std::vector<uint64_t>& counts);

 private:
  void find_pairs(const Sequences& sources, const Sequences& targets, int64_t vocabulary);
  void improve(const Sequences& sources, const Sequences& targets);
  size_t place(int32_t source, int32_t target) const;

  // All pairs of words that were met in a pair of sentences: the targets of source s stand from offsets_[s]
  // on, rising.
  std::vector<size_t> offsets_;
  std::vector<int32_t> targets_;
  std::vector<float> probabilities_;
};

}  // namespace heed
