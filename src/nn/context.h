// What a forward pass needs besides its input. It is passed, never global, so that modules are const and one
// loaded model serves many threads.
#pragma once

#include <memory>
#include <utility>

#include "autograd/tape.h"
#include "base/rng.h"
#include "base/stop.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/packed/packed_matrix.h"
#include "kernels/pointwise/dropout.h"
#include "nn/attention_sink.h"
#include "nn/head_scales.h"
#include "nn/state_hook.h"
#include "nn/storage/compact_parameters.h"
#include "nn/storage/filled_once.h"
#include "nn/storage/parameters.h"

namespace heed::nn {

class DifferentiableWeights;
class PackedWeights;

struct Context {
  const ParameterTable* table = nullptr;
  const ParameterArray* values = nullptr;
  /// Null, or the weights in fewer bits, for which `values` need not have elements.
  const CompactParameters* compact = nullptr;

  /// Training: the tape, and the accumulators of the parameters' gradients. Null and undefined in inference.
  Tape* tape = nullptr;
  const ParameterArray* gradients = nullptr;

  /// Whether dropout is on, and the key of its masks.
  bool training = false;
  RandomKey random;
  /// Of matrix products in training.
  MatmulPrecision precision = MatmulPrecision::kHighest;

  /// Inference: null, or the packed weights.
  const PackedWeights* packed = nullptr;
  /// Null, or the weights for gradients with respect to inputs alone, where `packed` is null.
  const DifferentiableWeights* differentiable = nullptr;

  /// Receives the attention weights of whole sequences, not of decoding steps; null: they are not
  /// materialized.
  AttentionSink* sink = nullptr;
  /// Inference: factors for the outputs of heads; null: none, at no cost.
  const HeadScales* head_scales = nullptr;
  /// Receives all hidden states, and may replace them; null: none.
  StateHook* states = nullptr;

  /// The parameter as a leaf of the tape; a constant without a tape.
  Var parameter(ParamRef ref) const;
  /// The packed weight and bias of a product; null in training and in float64, which have no packed layout.
  const PackedMatrix* packed_matrix(const ProductRef& product) const;
  /// The hidden state with which the forward pass continues. Throws Cancelled in a scope of StopScope.
  Var pass(const StateId& id, Var state) const {
    StopScope::check();
    return states == nullptr || !states->wants(id.kind) ? std::move(state) : states->pass(id, state);
  }
  /// A new stream for each call. Calls are counted, so the same forward pass draws the same masks.
  DropoutStream next_dropout(double probability);

 private:
  uint64_t dropouts_ = 0;
};

/// The weights of a model in the layout of inference. A product is packed at its first use, since not all are
/// used (a vocabulary shortlist multiplies rows of the unpacked output layer). Thread-safe.
class PackedWeights {
 public:
  /// The weights are those of `compact` where that holds them, else of `values`. Table and compact parameters
  /// must outlive this, and all values stay as they are. kMedium: weights are rounded to
  /// bfloat16, for PackedMatrix::in_bfloat16().
  PackedWeights(const ParameterTable& table, const ParameterArray& values,
                const CompactParameters* compact = nullptr,
                MatmulPrecision precision = MatmulPrecision::kHighest);

  /// A context for inference with these weights, which must outlive it.
  Context context() const;
  const PackedMatrix& operator[](const ProductRef& product) const;

 private:
  PackedMatrix pack(const ProductRef& product) const;
  PackedMatrix pack_in_bfloat16(ParamRef weight, const float* bias) const;

  const ParameterTable& table_;
  const ParameterArray values_;
  const CompactParameters* compact_;
  MatmulPrecision precision_;
  mutable FilledOnce<PackedMatrix> matrices_;
};

}  // namespace heed::nn
