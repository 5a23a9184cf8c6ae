// Lexical translation probabilities of tokens, learnt from sentence pairs.
//
// Model 1 of Brown et al., "The mathematics of statistical machine translation: parameter estimation" (1993):
// every target token is the translation of any one source token, independent of position.
//
//   p(target | source) ~ prod_j sum_i t(target_j | source_i)
// The probabilities t are estimated by expectation maximization from a uniform start. The end token of the
// source acts as the paper's empty word, which generates target tokens without a counterpart.
#pragma once

#include <cstdint>
#include <vector>

#include "base/sequences.h"

namespace heed {

class TranslationTable {
 public:
  /// Estimates t(target | source) from parallel sequences of ids below `vocabulary`.
  TranslationTable(const Sequences& sources, const Sequences& targets, int64_t vocabulary,
                   int iterations = 5);

  struct Translation {
    int32_t word = 0;
    float probability = 0;
  };
  /// The translations of a source token, most probable first, ties by lower id; empty for an unknown token.
  std::vector<Translation> of(int32_t source) const;

  // -- For models that start from these probabilities and re-estimate them for the same token pairs.
  /// The number of co-occurring token pairs.
  size_t size() const { return targets_.size(); }
  /// The index of a token pair; size() if it never co-occurred.
  size_t find(int32_t source, int32_t target) const;
  float probability(size_t number) const { return probabilities_[number]; }
  /// Sets t(target | source) to the normalized counts of each source token.
  void set_counts(const std::vector<uint64_t>& counts);

 private:
  void find_pairs(const Sequences& sources, const Sequences& targets, int64_t vocabulary);
  void improve(const Sequences& sources, const Sequences& targets);
  size_t entry_of(int32_t source, int32_t target) const;

  // All co-occurring token pairs: the sorted targets of source s are targets_[offsets_[s]] ..
  // targets_[offsets_[s + 1]].
  std::vector<size_t> offsets_;
  std::vector<int32_t> targets_;
  std::vector<float> probabilities_;
};

}  // namespace heed
