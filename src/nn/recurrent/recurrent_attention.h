// Additive (Bahdanau) and multiplicative (Luong) attention: that of recurrent decoders, from a decoder state
// to the annotations, the states of the encoder. The score of a state s and an annotation h is one of
//
//   additive   v . tanh(W_a s + U_a h)     Bahdanau, Cho and Bengio, 2015
//   dot        s . h                       Luong, Pham and Manning, 2015
//   general    s . (W_a h)                 the same
//
// So s is the query, W_a h or U_a h the key, and h itself the value. nn/recurrent/recurrent_decoder_layer.h
// is the layer that attends with it, ops/recurrent/recurrent_attention.h the op.
#pragma once

#include <string>

#include "nn/context.h"
#include "nn/linear.h"
#include "ops/recurrent/recurrent_attention.h"

namespace heed::nn {

enum class AttentionScore { kAdditive, kDot, kGeneral };

class RecurrentAttention {
 public:
  struct Options {
    AttentionScore score = AttentionScore::kAdditive;
    int64_t state_width = 512;       ///< S, of a decoder state (query)
    int64_t annotation_width = 512;  ///< C, of an annotation (key and value)
    int64_t width = 256;             ///< A: additive scores only
  };

  RecurrentAttention() = default;
  /// Registers, in this order, `prefix`query.weight, W_a (A, S), `prefix`key.weight, U_a (A, C), and
  /// `prefix`score, v (A), for the additive score; `prefix`key.weight, W_a (S, C), for the general one.
  /// Throws kShape for dot products between widths that differ.
  RecurrentAttention(ParameterTable& table, const std::string& prefix, const Options& options);

  /// The keys: annotations (N, C) -> (N, A), or (N, S). Computed once per sentence.
  Var keys(Context& context, const Var& annotations) const;
  /// v of the additive score; undefined for the others.
  Var score_vector(Context& context) const;
  /// W_a of the additive score; undefined for the others, whose query is the state itself.
  ParamRef query_weight() const { return query_.weight(); }

  /// For states that are all known: states (Nq, S), annotations (Nk, C) -> contexts (Nq, C) and the weights.
  ops::RecurrentAttentionOutput forward(Context& context, const Var& states, const Var& annotations,
                                        const ops::AttentionLayout& layout) const;

 private:
  Options options_;
  Linear query_, key_;
  ParamRef score_;
};

}  // namespace heed::nn
