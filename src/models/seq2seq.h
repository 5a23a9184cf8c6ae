// What training and search ask of a model that turns one sequence into another. Neither knows which one it
// holds.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/sequences.h"
#include "nn/context.h"
#include "ops/cross_entropy.h"

namespace heed::models {

using heed::Sequences;

/// What a search keeps between its steps. Made by Seq2Seq::start().
class DecoderState {
 public:
  virtual ~DecoderState() = default;
};

/// One hypothesis of a step: which sentence it translates, which row of the step before it continues (-1 for
/// the first step), and its last word.
struct StepRow {
  int32_t sentence = 0;
  int32_t parent = -1;
  int32_t token = 0;
};

class Seq2Seq {
 public:
  virtual ~Seq2Seq() = default;

  const nn::ParameterTable& table() const { return table_; }
  virtual int64_t vocabulary_size() const = 0;
  /// The id that a target begins with.
  virtual int32_t start_id() const = 0;
  virtual int32_t end_id() const = 0;
  virtual int32_t padding_id() const = 0;
  /// The longest sequence that the model can read or write, end included; 0 where there is no limit.
  virtual int64_t longest() const = 0;

  /// Encoder and decoder with the true words as input (teacher forcing), and the loss of `labels`, whose
  /// tokens stand in the places of `decoder_input`. The gradients, if there is a tape, are those of scale *
  /// sum of losses.
  virtual ops::VocabularyLoss loss(nn::Context& context, const Sequences& source,
                                   const Sequences& decoder_input, const std::vector<int32_t>& labels,
                                   const ops::CrossEntropyOptions& options, double scale) const = 0;
  /// The logits of every position of decoder_input: (Nt, V).
  virtual Tensor logits(nn::Context& context, const Sequences& source,
                        const Sequences& decoder_input) const = 0;

  // -- Search. A state belongs to one thread; sentences come and go.
  virtual std::unique_ptr<DecoderState> start(nn::Context& context) const = 0;
  /// Encodes sentences and puts them into the state; returns a number for each, which release() frees for
  /// others.
  virtual std::vector<int32_t> admit(nn::Context& context, DecoderState& state,
                                     const Sequences& source) const = 0;
  virtual void release(DecoderState& state, int32_t sentence) const = 0;
  /// One word more for each row: the logits of the next, (rows, V). Rows of a sentence stand together.
  virtual Tensor step(nn::Context& context, DecoderState& state, const std::vector<StepRow>& rows) const = 0;

 protected:
  nn::ParameterTable table_;
};

}  // namespace heed::models
