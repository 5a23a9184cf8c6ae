// Word alignment from pairs of sentences alone: IBM's model 1 (translation_table.h), then a hidden Markov
// model whose state is the source position (Vogel et al., "HMM-based word alignment in statistical
// translation", 1996), with null states as in Och and Ney, "A systematic comparison of various statistical
// alignment models" (2003), section 2.1.2:
//
//   p(target, alignment | source) = prod_j p(a_j | a_{j-1}, I) t(target_j | source_{a_j})
//   p(i | i', I) = (1 - p0) (u / I + (1 - u) s(i - i') / sum_l s(l - i')),   p(i | beginning, I) = (1 - p0) /
//   I
//
// with s the weights of jumps, learnt like t by expectation maximisation, and u = 0.15. With probability p0 a
// target token is aligned to no source token: the end token of the source produces it, and the position stays
// where it was.
//
// Expected counts are added up in fixed point, so that the result depends neither on threads nor on order.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/sequences.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "data/translation_table.h"
#include "text/alignment_score.h"

namespace heed {

struct HmmAlignerOptions {
  int model1_iterations = 5;
  int iterations = 4;             ///< of the hidden Markov model
  double null_probability = 0.2;  ///< p0
  Stop stop = {};                 ///< learning throws Stopped where this is requested
};

class HmmAligner {
 public:
  /// Learns from pairs of sequences of ids below `vocabulary`, as many sources as targets, each with its end
  /// token as the last. Both must outlive the call only.
  HmmAligner(const Sequences& sources, const Sequences& targets, int64_t vocabulary, ThreadPool& pool,
             const HmmAlignerOptions& options = {});

  /// The most probable alignment of a pair with its end tokens (Viterbi): for each target token but the end
  /// the source token that it is aligned to, or -1. The pair need not be one of those that were learnt from.
  std::vector<int> align(std::span<const int32_t> source, std::span<const int32_t> target) const;

 private:
  struct Lattice;
  void improve_model1(const Sequences& sources, const Sequences& targets, ThreadPool& pool);
  void improve(const Sequences& sources, const Sequences& targets, ThreadPool& pool);
  void fill(Lattice& lattice, std::span<const int32_t> source, std::span<const int32_t> target) const;
  double jump(int64_t distance) const;

  HmmAlignerOptions options_;
  TranslationTable table_;
  std::vector<double> jumps_;  // s(d) of distances from -kFarthest to kFarthest
};

/// An aligner from source to target and one from target to source.
class TwoWayAligner {
 public:
  /// As HmmAligner.
  TwoWayAligner(const Sequences& sources, const Sequences& targets, int64_t vocabulary, ThreadPool& pool,
                const HmmAlignerOptions& options = {})
      : forward_(sources, targets, vocabulary, pool, options),
        backward_(targets, sources, vocabulary, pool, options) {}

  struct Links {
    std::vector<WordLink> forward, backward;  ///< both as (source token, target token)
  };
  Links align(std::span<const int32_t> source, std::span<const int32_t> target) const;

 private:
  HmmAligner forward_, backward_;
};

}  // namespace heed
