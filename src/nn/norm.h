// The norms that a layer may have.
#pragma once

#include <string>

#include "nn/layer_norm.h"

namespace heed::nn {

enum class NormKind {
  kLayer,  ///< each row: mean 0 and variance 1, then weight and bias (Ba, Kiros and Hinton, 2016)
  kRms,    ///< each row: root mean square 1, then a weight (Zhang and Sennrich, 2019)
  /// Each feature over all rows of a batch: mean 0 and variance 1, then weight and bias (Ioffe and Szegedy,
  /// 2015). A batch is what one forward pass of training sees: the tokens of all sentences of a shard, each
  /// counted once, and no padding, as sequences are packed. In use, running averages stand for the batch.
  kBatch,
};

class Norm {
 public:
  struct Options {
    NormKind kind = NormKind::kLayer;
    double epsilon = 1e-5;  ///< added to the variance or the mean square
    double momentum = 0.1;  ///< of kBatch: how far running averages move towards those of an update
  };
  Norm() = default;
  /// Registers `name`.weight, for kLayer and kBatch `name`.bias, and for kBatch `name`.running_mean and
  /// `name`.running_var, all (width).
  Norm(ParameterTable& table, const std::string& name, int64_t width, const Options& options);
  /// (..., width) -> the same shape
  Var forward(Context& context, const Var& x) const;

 private:
  Var forward_batch(Context& context, const Var& x) const;

  Options options_;
  LayerNorm layer_;                           // kLayer
  ParamRef weight_, bias_, mean_, variance_;  // kRms has the first, kBatch all
};

}  // namespace heed::nn
