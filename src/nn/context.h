// What a forward pass needs besides its input: passed, never global, so that modules stay const and one
// loaded model serves many threads.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <utility>

#include "autograd/tape.h"
#include "base/rng.h"
#include "kernels/gemm/packed_matrix.h"
#include "kernels/pointwise/dropout.h"
#include "nn/attention_sink.h"
#include "nn/head_scales.h"
#include "nn/parameters.h"
#include "nn/quantized_parameters.h"

namespace heed::nn {

struct Context;

/// Weights laid out for inference, made when they are first asked for. Thread-safe.
class PackedWeights {
 public:
  /// The weight and bias that two references name, packed together; the weight from context.quantized where
  /// that holds it. All values must stay as they are.
  const PackedMatrix& get(const Context& context, ParamRef weight, ParamRef bias);

 private:
  std::shared_mutex mutex_;
  std::map<std::pair<int, int>, std::unique_ptr<PackedMatrix>> matrices_;
};

struct Context {
  const ParameterTable* table = nullptr;
  const ParameterArray* values = nullptr;
  /// Null, or where weights are kept as 8-bit whole numbers; `values` holds nothing in their place until it
  /// is asked for.
  const QuantizedParameters* quantized = nullptr;

  /// Training: where the computation is noted down, and where the gradients of the parameters are added up.
  /// Null and undefined while nothing is differentiated.
  Tape* tape = nullptr;
  const ParameterArray* gradients = nullptr;

  /// Whether dropout is on, and where its masks come from.
  bool training = false;
  RandomKey random;
  /// Training: what statistics of this pass count among those of all passes of an update, which sum to 1.
  double share = 1;

  /// Inference: null, or where packed weights are kept.
  PackedWeights* packed = nullptr;

  /// Told of all attention weights while it is not null.
  AttentionSink* sink = nullptr;
  /// Inference: factors for the outputs of heads; null: none. Where it is null, nothing is computed for it.
  const HeadScales* head_scales = nullptr;

  /// The parameter, to be differentiated by where there is a tape.
  Var parameter(ParamRef ref) const;
  /// The weight, with its bias where one is named, laid out for inference; null where there is no such
  /// layout: in training, or in float64. A weight must always be asked for with the same bias.
  const PackedMatrix* packed_matrix(ParamRef weight, ParamRef bias = {}) const;
  /// Training: adds this pass's share of a running statistic to what is gathered, which takes the place of
  /// the gradient that it does not have.
  void collect(ParamRef statistic, const Tensor& value) const;
  /// A dropout of its own for each call: calls are counted, so the same forward pass draws the same masks.
  DropoutStream next_dropout(double probability);

 private:
  uint64_t dropouts_ = 0;
};

}  // namespace heed::nn
