// What models that predict tokens have on top of their last stack.
#pragma once

#include "nn/context.h"

namespace heed::models {

/// Implemented by translation models, language models and masked language models.
class VocabularyHead {
 public:
  /// The final norm of the stack that predicts: the residual stream (N, D) -> (N, D). Without such a norm,
  /// as in post-norm stacks, `x` itself.
  virtual Var final_norm(nn::Context& context, const Var& x) const = 0;
  /// The logits of the output of that stack: (N, D) -> (N, V).
  virtual Var vocabulary_logits(nn::Context& context, const Var& hidden) const = 0;

 protected:
  ~VocabularyHead() = default;
};

}  // namespace heed::models
