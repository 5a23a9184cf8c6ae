// Batch normalization: over the batch, for each feature. (Layer normalization is over the features, for each
// token, so it depends neither on the batch nor on running statistics.)
#pragma once

#include "autograd/tape.h"

namespace heed::ops {

/// The statistics of inference, each (D): averages over the batches of training.
struct RunningMoments {
  Tensor mean, variance;
};

struct BatchNormOptions {
  double epsilon = 1e-5;
  /// How far the running statistics move towards those of a batch.
  double momentum = 0.1;
  /// Normalize by the statistics of the batch and update the running ones; else by the running ones.
  bool training = false;
};

/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias for every column (Ioffe and Szegedy, 2015).
/// x (..., D), weight and bias (D). In training the running moments are changed in place:
/// running = (1 - momentum) running + momentum batch, the batch's variance divided by the number of rows - 1,
/// which takes at least two rows.
Var batch_norm(const Var& x, const Var& weight, const Var& bias, RunningMoments& running,
               const BatchNormOptions& options = {});

}  // namespace heed::ops
