#include "nn/recurrent/recurrent_attention.h"

#include <cmath>

#include "base/check.h"

namespace heed::nn {

RecurrentAttention::RecurrentAttention(ParameterTable& table, const std::string& prefix,
                                       const Options& options)
    : options_(options) {
  const auto& [score, state, annotation, width] = options_;
  switch (score) {
    case AttentionScore::kAdditive:
      query_ = Linear(table, prefix + "query", state, width, false);
      key_ = Linear(table, prefix + "key", annotation, width, false);
      // So that A terms of size 1 at most make scores of size 1.
      score_ = table.add({prefix + "score",
                          {width},
                          {Initialization::Kind::kNormal, 1 / std::sqrt(static_cast<double>(width))},
                          {}});
      return;
    case AttentionScore::kDot:
      if (state != annotation) {
        fail(ErrorKind::kShape,
             "dot products need a state as wide as an annotation, not {} and {}: an annotation is the states "
             "of both directions of the encoder",
             state, annotation);
      }
      return;
    case AttentionScore::kGeneral:
      key_ = Linear(table, prefix + "key", annotation, state, false);
      return;
  }
}

Var RecurrentAttention::keys(Context& context, const Var& annotations) const {
  return options_.score == AttentionScore::kDot ? annotations : key_.forward(context, annotations);
}

Var RecurrentAttention::score_vector(Context& context) const {
  return score_.defined() ? context.parameter(score_) : Var();
}

ops::RecurrentAttentionOutput RecurrentAttention::forward(Context& context, const Var& states,
                                                          const Var& annotations,
                                                          const ops::AttentionLayout& layout) const {
  const bool additive = options_.score == AttentionScore::kAdditive;
  const Var queries = additive ? query_.forward(context, states) : states;  // (Nq, S) -> (Nq, A)
  return ops::recurrent_attention(queries, keys(context, annotations), annotations, score_vector(context),
                                  layout);
}

}  // namespace heed::nn
