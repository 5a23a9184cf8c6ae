// The loss of a sequence model.
#pragma once

#include "autograd/tape.h"
#include "kernels/gemm/gemm.h"

namespace heed::ops {

struct CrossEntropyOptions {
  /// Label smoothing (Szegedy et al., 2016).
  double smoothing = 0;
  /// Spread the smoothing over the classes that are not the target, as fairseq does; else over all, as
  /// PyTorch does.
  bool others = false;
  /// Targets that do not count; -1 for none.
  int32_t ignored = -1;
  /// Of vocabulary_cross_entropy()'s products.
  MatmulPrecision precision = MatmulPrecision::kHighest;
  /// Soft cap of vocabulary_cross_entropy()'s logits: see soft_cap() in elementwise.h. 0: none.
  double logit_cap = 0;
  /// Of the loss and the gradients of vocabulary_cross_entropy().
  double scale = 1;
};

/// The losses of all tokens: logits (..., V), targets (...) int32 -> (...). See kernels/reduction/softmax.h
/// for the formula.
Var cross_entropy(const Var& logits, const Tensor& targets, const CrossEntropyOptions& options = {});

/// Sums over the tokens of a batch.
struct VocabularyLoss {
  Var loss;                            ///< (1), the sum of the losses times the scale
  double loss_sum = 0;                 ///< without the scale
  double negative_log_likelihood = 0;  ///< sum of -log p of the targets, without smoothing
  int64_t tokens = 0;                  ///< targets that count
};

/// cross_entropy(hidden weight^T + bias), in blocks of rows, so that the logits of a whole batch never exist.
/// The gradients are made on the way forward, where the logits are at hand, and multiplied by the scale
/// there; the upstream gradient of `loss` must be 1. hidden (N, D), weight (V, D), bias (V) or undefined,
/// targets (N) int32.
VocabularyLoss vocabulary_cross_entropy(const Var& hidden, const Var& weight, const Var& bias,
                                        const Tensor& targets, const CrossEntropyOptions& options);

}  // namespace heed::ops
