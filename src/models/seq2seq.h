// The interface of sequence-to-sequence models.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/autoregressive_model.h"
#include "nn/linear.h"
#include "ops/cross_entropy.h"

namespace heed::models {

class Seq2Seq : public AutoregressiveModel {
 public:
  Task task() const override { return Task::kTranslation; }
  /// The start token of a target.
  virtual int32_t start_id() const = 0;
  /// Whether lines of several sentences are to be split, as for models that were trained on sentences alone.
  /// False: the text of a line is given to the model as it is.
  virtual bool translates_sentences() const { return true; }
  std::vector<int32_t> prompt(std::span<const int32_t>) const override { return {start_id()}; }

  /// Forward pass with teacher forcing, and the loss of `labels`, one for each position of `decoder_input`.
  virtual ops::VocabularyLoss loss(nn::Context& context, const Sequences& source,
                                   const Sequences& decoder_input, const std::vector<int32_t>& labels,
                                   const ops::CrossEntropyOptions& options) const = 0;
  /// The output of the decoder at every position of decoder_input, which the output layer reads: (Nt, D).
  virtual Var hidden(nn::Context& context, const Sequences& source, const Sequences& decoder_input) const = 0;
  /// The logits of every position of decoder_input: (Nt, V).
  virtual Tensor logits(nn::Context& context, const Sequences& source,
                        const Sequences& decoder_input) const = 0;
};

/// The logits of AutoregressiveModel::step() from the decoder output (R, D).
Tensor next_logits(nn::Context& context, const nn::Linear& output, const Var& hidden,
                   std::span<const StepRow> rows);

}  // namespace heed::models
