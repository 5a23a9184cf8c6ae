// What training and search ask of a model that turns one sequence into another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/generator.h"
#include "ops/cross_entropy.h"

namespace heed::models {

class Seq2Seq : public Generator {
 public:
  Task task() const override { return Task::kTranslation; }
  /// The id that a target begins with.
  virtual int32_t start_id() const = 0;
  std::vector<int32_t> beginning(std::span<const int32_t>) const override { return {start_id()}; }

  /// Encoder and decoder with the true words as input (teacher forcing), and the loss of `labels`, whose
  /// tokens stand in the places of `decoder_input`. The gradients, if there is a tape, are those of scale *
  /// sum of losses.
  virtual ops::VocabularyLoss loss(nn::Context& context, const Sequences& source,
                                   const Sequences& decoder_input, const std::vector<int32_t>& labels,
                                   const ops::CrossEntropyOptions& options, double scale) const = 0;
  /// The logits of every position of decoder_input: (Nt, V).
  virtual Tensor logits(nn::Context& context, const Sequences& source,
                        const Sequences& decoder_input) const = 0;
};

/// The logits of the next words of rows of a step, as Generator::step() gives them, from the decoder's output
/// (R, D).
Tensor next_logits(nn::Context& context, const Var& hidden, nn::ParamRef weight, nn::ParamRef bias,
                   std::span<const StepRow> rows);

}  // namespace heed::models
