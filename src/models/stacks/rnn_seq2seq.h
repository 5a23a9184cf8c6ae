// Sequence-to-sequence model of recurrent networks with attention (Bahdanau, Cho and Bengio, 2015; Luong,
// Pham and Manning, 2015).
//
//   annotations  h_j = [forward state; backward state] after source token j
//   first state  s_0 = tanh(W backward_1 + b), backward_1 the backward state after the first token
//   context       c_i = sum_j softmax_j(score(s_(i-1), h_j)) h_j
//   state         s_i = cell([y_(i-1); c_i], s_(i-1)),   y_(i-1) the last target token: the true one in
//                                                        training, the model's own in use
//   readout       t_i = tanh(W_t [s_i; c_i; y_(i-1)] + b_t),   logits = E t_i + b
#pragma once

#include <vector>

#include "models/seq2seq.h"
#include "models/source_vocabulary.h"
#include "models/vocabulary_head.h"
#include "nn/recurrent/recurrent_decoder_layer.h"
#include "nn/recurrent/recurrent_layer.h"

namespace heed::models {

struct RnnConfig {
  int64_t vocabulary = 0;         ///< target vocabulary size
  int64_t source_vocabulary = 0;  ///< equal, unless `share_embeddings` is off
  int64_t width = 256;            ///< E, of embeddings
  RecurrentCell cell = RecurrentCell::kGru;
  int encoder_layers = 1;  ///< each bidirectional
  int decoder_layers = 1;  ///< the first layer has attention; the others read the states of the layer below
  int64_t encoder_state_width = 256;  ///< per direction; annotations have twice this
  int64_t decoder_state_width = 512;
  nn::AttentionScore score = nn::AttentionScore::kAdditive;
  int64_t attention_width = 256;  ///< of the additive score

  /// Width of the layer between decoder and output; 0: none, logits are computed from [s; c; y].
  int64_t readout_width = 256;
  bool share_embeddings = true;  ///< of source and target
  bool tie_output = true;        ///< E is the embedding of the target; readout_width must be `width`
  bool scale_embedding = true;   ///< by sqrt(E)
  double dropout = 0.1;          ///< on embeddings, between layers and on the readout
  int64_t max_length = 512;      ///< maximum sequence length
  int32_t padding_id = 0, end_id = 0, start_id = 0;
};

class RnnSeq2Seq : public Seq2Seq, public SourceVocabulary, public VocabularyHead {
 public:
  /// Registers all parameters. Throws for an invalid config.
  explicit RnnSeq2Seq(const RnnConfig& config);

  const RnnConfig& config() const { return config_; }
  nlohmann::ordered_json config_json() const override;
  std::vector<std::string> beyond_hugging_face() const override { return {"recurrent networks"}; }
  int64_t vocabulary_size() const override { return config_.vocabulary; }
  int64_t source_vocabulary_size() const override { return config_.source_vocabulary; }
  int32_t start_id() const override { return config_.start_id; }
  int32_t end_id() const override { return config_.end_id; }
  int32_t padding_id() const override { return config_.padding_id; }
  int64_t max_length() const override { return config_.max_length; }
  int layers(Stack stack) const override {
    if (stack == Stack::kCross) return 1;  // the attentive layer
    return stack == Stack::kEncoder ? config_.encoder_layers : config_.decoder_layers;
  }

  /// The output of the encoder.
  struct Encoded {
    ops::RecurrentMemory memory;  ///< annotations (Ns, 2 S) and their projected keys
    Var start;                    ///< initial states of all decoder layers (B, state_width())
  };
  Encoded encode(nn::Context& context, const Sequences& source) const;

  /// The output of the decoder.
  struct Decoded {
    Var hidden;                         ///< input of the output layer (Nt, readout or S + C + E)
    ops::RecurrentDecoderOutput first;  ///< of the layer with attention
    std::vector<ops::RecurrentStates> others;
  };
  /// ids: one per query of the layout; `start`: initial states of the sequences (B, state_width()).
  Decoded decode(nn::Context& context, const std::vector<int32_t>& ids, const ops::RecurrentMemory& memory,
                 const ops::AttentionLayout& layout, const Var& start) const;

  ops::VocabularyLoss loss(nn::Context& context, const Sequences& source, const Sequences& decoder_input,
                           const std::vector<int32_t>& labels,
                           const ops::CrossEntropyOptions& options) const override;
  Var hidden(nn::Context& context, const Sequences& source, const Sequences& decoder_input) const override;
  Tensor logits(nn::Context& context, const Sequences& source, const Sequences& decoder_input) const override;
  Var final_norm(nn::Context&, const Var& x) const override { return x; }
  Var vocabulary_logits(nn::Context& context, const Var& hidden) const override;

  std::unique_ptr<DecoderState> start(nn::Context& context) const override;
  std::vector<int32_t> admit(nn::Context& context, DecoderState& state,
                             const Sequences& source) const override;
  void release(DecoderState& state, int32_t sentence) const override;
  Tensor step(nn::Context& context, DecoderState& state, const std::vector<StepRow>& rows) const override;

 private:
  /// Number of state vectors per layer: h, and c of an LSTM.
  int64_t states_per_layer() const { return config_.cell == RecurrentCell::kLstm ? 2 : 1; }
  /// Total width of h (and c) of all decoder layers.
  int64_t state_width() const {
    return config_.decoder_layers * states_per_layer() * config_.decoder_state_width;
  }
  ops::RecurrentStart start_of(const Var& all, int layer) const;
  /// Decodes whole targets.
  Decoded teacher_forced(nn::Context& context, const Sequences& source, const Sequences& decoder_input) const;
  Var embed(nn::Context& context, Stack stack, const std::vector<int32_t>& ids) const;

  RnnConfig config_;
  nn::ParamRef source_embedding_, target_embedding_;
  std::vector<nn::RecurrentLayer> encoder_, upper_;
  nn::RecurrentDecoderLayer attentive_;
  nn::Linear start_, readout_, output_;
};

}  // namespace heed::models
