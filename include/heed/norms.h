// Normalization functions. Layer norm and RMS norm normalize each vector; batch norm normalizes each feature
// over the batch, so its results depend on the batch. All functions take float32 or float64 and throw
// heed::Error for mismatched shapes.
#pragma once

#include "heed/tensor.h"

namespace heed {

struct NormOptions {
  Tensor weight{}, bias{};  ///< (D); undefined: 1 and 0. RMS norm has no bias
  double epsilon = 1e-5;    ///< added to the variance or the mean square
};

/// (x - mean) / sqrt(variance + epsilon) * weight + bias, over the last axis (Ba, Kiros and Hinton, "Layer
/// normalization", 2016). x (..., D).
Tensor layer_norm(const Tensor& x, const NormOptions& options = {});

/// x / sqrt(mean of x^2 + epsilon) * weight, over the last axis (Zhang and Sennrich, "Root mean square layer
/// normalization", 2019). x (..., D).
Tensor rms_norm(const Tensor& x, const NormOptions& options = {});

/// Running moments of batch norm for inference, each (D).
struct BatchMoments {
  Tensor mean{}, variance{};
  double momentum = 0.1;  ///< weight of a new batch in the running moments
};

/// The formula of layer_norm() with mean and variance over all axes but the last: each feature over the batch
/// (Ioffe and Szegedy, "Batch normalization", 2015). x (..., D), at least two vectors. Puts new tensors into
/// `running` unless it is null.
Tensor batch_norm_training(const Tensor& x, const NormOptions& options = {}, BatchMoments* running = nullptr);
/// The same with the running moments.
Tensor batch_norm(const Tensor& x, const BatchMoments& running, const NormOptions& options = {});

}  // namespace heed
