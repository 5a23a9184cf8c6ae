// What search asks of a model that writes a sequence, word by word. It does not know which model it holds,
// nor whether the model translates a text or continues it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/sequences.h"
#include "models/model.h"
#include "nn/context.h"

namespace heed::models {

using heed::Sequences;

/// What a search keeps between its steps. Made by Generator::start().
class DecoderState {
 public:
  virtual ~DecoderState() = default;
};

/// One hypothesis of a step: which sentence it belongs to, which row of the step before it continues (-1 for
/// the first step), and its last word.
struct StepRow {
  int32_t sentence = 0;
  int32_t parent = -1;
  int32_t token = 0;
  /// The words whose logits are wanted; none: all. Rows of a sentence name the same list.
  std::span<const int32_t> words = {};
};

class Generator : public Model {
 public:
  virtual int64_t vocabulary_size() const = 0;
  /// -1: none, as language models of plain text may have it.
  virtual int32_t end_id() const = 0;
  virtual int32_t padding_id() const = 0;
  /// The maximum sequence length in tokens, including the end token; 0: no limit.
  virtual int64_t max_length() const = 0;

  /// What the model has read of its own text before the first word that it writes: the start token of a
  /// translation, or the text that is to be continued. The first step is given the last of these.
  virtual std::vector<int32_t> beginning(std::span<const int32_t> source) const = 0;

  // -- A state belongs to one thread; sentences come and go.
  virtual std::unique_ptr<DecoderState> start(nn::Context& context) const = 0;
  /// Reads sentences and puts them into the state; returns a number for each, which release() frees for
  /// others.
  virtual std::vector<int32_t> admit(nn::Context& context, DecoderState& state,
                                     const Sequences& source) const = 0;
  virtual void release(DecoderState& state, int32_t sentence) const = 0;
  /// One word more for each row: the logits of the next, one row behind the other, of the words that it names
  /// or of all V. Either all rows name some or none does. Rows of a sentence stand together.
  virtual Tensor step(nn::Context& context, DecoderState& state, const std::vector<StepRow>& rows) const = 0;
};

}  // namespace heed::models
