// The interface of language models: decoder-only models such as GPT (Radford et al., 2018).
//
// As an AutoregressiveModel, it needs a prompt of at least one token.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/autoregressive_model.h"
#include "ops/cross_entropy.h"

namespace heed::models {

class LanguageModel : public AutoregressiveModel {
 public:
  Task task() const override { return Task::kLanguageModel; }
  /// The start token of a text; -1: none.
  virtual int32_t start_id() const = 0;
  std::vector<int32_t> prompt(std::span<const int32_t> text) const override {
    return {text.begin(), text.end()};
  }

  /// The loss of `labels`: labels[t] is the token after text.ids[t].
  virtual ops::VocabularyLoss loss(nn::Context& context, const Sequences& text,
                                   const std::vector<int32_t>& labels,
                                   const ops::CrossEntropyOptions& options) const = 0;
  /// The output of the decoder at every position, which the output layer reads: (N, D).
  virtual Var hidden(nn::Context& context, const Sequences& text) const = 0;
  /// The logits of the token after every position: (N, V).
  virtual Tensor logits(nn::Context& context, const Sequences& text) const = 0;
};

}  // namespace heed::models
