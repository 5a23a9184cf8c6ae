// Norms as functions: what keeps the numbers of a deep network in range. Layer and RMS norm look at one
// vector, batch norm at one feature of all vectors of a batch, so that with it a vector depends on its
// company. All functions take float32 or float64 and throw heed::Error for shapes that do not fit.
#pragma once

#include "heed/tensor.h"

namespace heed {

struct NormOptions {
  Tensor weight{}, bias{};  ///< (D); 1 and 0 where not defined. RMS norm has no bias
  double epsilon = 1e-5;    ///< added to the variance or the mean square
};

/// (x - mean) / sqrt(variance + epsilon) * weight + bias, over the last axis: each vector by itself (Ba,
/// Kiros and Hinton, "Layer normalization", 2016). x (..., D).
Tensor layer_norm(const Tensor& x, const NormOptions& options = {});

/// x / sqrt(mean of x^2 + epsilon) * weight, over the last axis (Zhang and Sennrich, "Root mean square layer
/// normalization", 2019). x (..., D).
Tensor rms_norm(const Tensor& x, const NormOptions& options = {});

/// What batch norm uses where there is no batch: averages over those of training, each (D).
struct BatchMoments {
  Tensor mean{}, variance{};
  double momentum = 0.1;  ///< how far they move towards those of a batch
};

/// The formula of layer_norm() with mean and variance over all axes but the last: each feature over the batch
/// (Ioffe and Szegedy, "Batch normalization", 2015). x (..., D), at least two vectors. Moves `running` where
/// it is given.
Tensor batch_norm_training(const Tensor& x, const NormOptions& options = {}, BatchMoments* running = nullptr);
/// The same with the running averages.
Tensor batch_norm(const Tensor& x, const BatchMoments& running, const NormOptions& options = {});

}  // namespace heed
