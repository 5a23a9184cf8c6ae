// The norms that a layer may have.
#pragma once

#include <string>

#include "nn/norms/batch_norm.h"
#include "nn/norms/layer_norm.h"

namespace heed::nn {

enum class NormKind {
  kLayer,  ///< each row: mean 0 and variance 1, then weight and bias (Ba, Kiros and Hinton, 2016)
  kRms,    ///< each row: root mean square 1, then a weight (Zhang and Sennrich, 2019)
  kBatch,  ///< each feature over all rows of a batch (batch_norm.h)
};

/// Registers the weight (width) of an RMS norm, `name`.weight; `offset` is 0 or 1 and added to it where it is
/// used.
ParamRef rms_weight(ParameterTable& table, const std::string& name, int64_t width, double offset);

class Norm {
 public:
  struct Options {
    NormKind kind = NormKind::kLayer;
    double epsilon = 1e-5;     ///< added to the variance or the mean square
    double weight_offset = 0;  ///< of kRms: factors are this and the weight; 1 in Gemma
    bool bias = true;          ///< of kLayer
  };
  Norm() = default;
  /// Registers `name`.weight, for kLayer (with `bias`) and kBatch `name`.bias, and what else BatchNorm has.
  /// Factors begin at 1.
  Norm(ParameterTable& table, const std::string& name, int64_t width, const Options& options);
  /// (..., width) -> the same shape
  Var forward(Context& context, const Var& x) const;
  /// forward(x + added)
  Var forward_sum(Context& context, const Var& x, const Var& added) const;

 private:
  Options options_;
  LayerNorm layer_;      // kLayer
  ParamRef rms_weight_;  // kRms
  BatchNorm batch_;      // kBatch
};

}  // namespace heed::nn
