// The interface of models that generate token by token, as search sees them: translation and language models.
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

/// The decoding state between steps, created by AutoregressiveModel::start().
class DecoderState {
 public:
  virtual ~DecoderState() = default;
};

/// One hypothesis of a step: its sentence, the row of the previous step that it continues (-1 for the first
/// step), and its last token.
struct StepRow {
  int32_t sentence = 0;
  int32_t parent = -1;
  int32_t token = 0;
  /// A draft: continues the row before it, of this step, instead of `parent`. For models that take drafts.
  bool draft = false;
  /// Tokens to compute logits for; empty: all. Equal for all rows of a sentence.
  std::span<const int32_t> shortlist = {};
};

class AutoregressiveModel : public Model {
 public:
  virtual int64_t vocabulary_size() const = 0;
  /// -1: none, as in some language models.
  virtual int32_t end_id() const = 0;
  virtual int32_t padding_id() const = 0;
  /// Whether search never writes the padding token, although no setting says so.
  virtual bool forbids_padding() const { return true; }
  /// The maximum sequence length in tokens, including the end token; 0: no limit.
  virtual int64_t max_length() const = 0;

  /// The decoder input before the first generated token: the start token of a translation, or the prompt of a
  /// language model. The first step reads its last token.
  virtual std::vector<int32_t> prompt(std::span<const int32_t> source) const = 0;

  /// Whether a step may have rows that are drafts. Logits have the same bits as in a step of their own.
  virtual bool takes_drafts() const { return false; }

  // -- A state belongs to one thread; sentences can be added and released at any time.
  virtual std::unique_ptr<DecoderState> start(nn::Context& context) const = 0;
  /// Encodes sentences and adds them to the state; returns their numbers, which release() frees.
  virtual std::vector<int32_t> admit(nn::Context& context, DecoderState& state,
                                     const Sequences& source) const = 0;
  virtual void release(DecoderState& state, int32_t sentence) const = 0;
  /// One decoding step: the logits of the next token of each row, concatenated, for the row's shortlist or
  /// all V tokens. Either all rows have a shortlist or none. The rows of a sentence must be adjacent.
  virtual Tensor step(nn::Context& context, DecoderState& state, const std::vector<StepRow>& rows) const = 0;
};

}  // namespace heed::models
