// What training and search ask of a model that continues a text: decoder-only, as GPT (Radford et al., 2018).
//
// As a Generator it is admitted a text of one token at least, and writes what follows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/generator.h"
#include "ops/cross_entropy.h"

namespace heed::models {

class LanguageModel : public Generator {
 public:
  Task task() const override { return Task::kLanguageModel; }
  /// The id that a text begins with where nothing stands in front of it; -1: none.
  virtual int32_t start_id() const = 0;
  std::vector<int32_t> beginning(std::span<const int32_t> text) const override {
    return {text.begin(), text.end()};
  }

  /// The loss of `labels`: labels[t] is the word after text.ids[t]. The gradients, if there is a tape, are
  /// those of scale * sum of losses.
  virtual ops::VocabularyLoss loss(nn::Context& context, const Sequences& text,
                                   const std::vector<int32_t>& labels,
                                   const ops::CrossEntropyOptions& options, double scale) const = 0;
  /// The logits of the word after every position: (N, V).
  virtual Tensor logits(nn::Context& context, const Sequences& text) const = 0;
};

}  // namespace heed::models
