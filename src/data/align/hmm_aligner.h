// Unsupervised word alignment: IBM model 1 (translation_table.h), then a hidden Markov model whose state is
// the source position (Vogel et al., "HMM-based word alignment in statistical translation", 1996), with null
// states as in Och and Ney, "A systematic comparison of various statistical alignment models" (2003), section
// 2.1.2:
//
//   p(target, alignment | source) = prod_j p(a_j | a_{j-1}, I) t(target_j | source_{a_j})
//   p(i | i', I) = (1 - p0) (u / I + (1 - u) s(i - i') / sum_l s(l - i')),   p(i | start, I) = (1 - p0) / I
//
// with jump weights s, learnt like t by expectation maximization, and u = 0.15. With probability p0 a target
// token is unaligned: the end token of the source generates it, and the position does not change.
//
// Expected counts are summed in fixed point, so that the result depends neither on threads nor on order.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/sequences.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "data/align/translation_table.h"
#include "metrics/alignment_score.h"

namespace heed {

struct HmmAlignerOptions {
  int model1_iterations = 5;
  int iterations = 4;             ///< of the hidden Markov model
  double null_probability = 0.2;  ///< p0
  Stop stop = {};                 ///< training throws Cancelled if requested
  /// Called on the calling thread after each iteration with the fraction of the training that is done.
  std::function<void(double fraction)> progress = {};
};

class HmmAligner {
 public:
  /// Trains on parallel sequences of ids below `vocabulary`, each with its end token.
  HmmAligner(const Sequences& sources, const Sequences& targets, int64_t vocabulary, ThreadPool& pool,
             const HmmAlignerOptions& options = {});

  /// The Viterbi alignment of a pair with end tokens: for each target token except the end token the aligned
  /// source token, or -1. The pair need not be in the training data.
  std::vector<int> align(std::span<const int32_t> source, std::span<const int32_t> target) const;

 private:
  struct Lattice;
  void improve_model1(const Sequences& sources, const Sequences& targets, ThreadPool& pool);
  void improve(const Sequences& sources, const Sequences& targets, ThreadPool& pool);
  void fill(Lattice& lattice, std::span<const int32_t> source, std::span<const int32_t> target) const;
  double jump(int64_t distance) const;

  HmmAlignerOptions options_;
  TranslationTable table_;
  std::vector<double> jumps_;  // s(d) for d from -kMaxJump to kMaxJump
};

/// Aligners of both directions.
class TwoWayAligner {
 public:
  /// As HmmAligner.
  TwoWayAligner(const Sequences& sources, const Sequences& targets, int64_t vocabulary, ThreadPool& pool,
                const HmmAlignerOptions& options = {})
      : forward_(sources, targets, vocabulary, pool, half(options, 0)),
        backward_(targets, sources, vocabulary, pool, half(options, 0.5)) {}

  struct Links {
    std::vector<WordLink> forward, backward;  ///< both as (source token, target token)
  };
  Links align(std::span<const int32_t> source, std::span<const int32_t> target) const;

 private:
  /// Options of one direction, whose training is half of the whole.
  static HmmAlignerOptions half(HmmAlignerOptions options, double begin);

  HmmAligner forward_, backward_;
};

}  // namespace heed
