// The Transformer of "Attention is all you need" (Vaswani et al., 2017), for translation: an encoder and a
// decoder of the same layers (nn/transformer_layer.h) with different options.
//
//             norm         positions                     attention, feed-forward           output
//   Marian    post-norm    sinusoidal                    biases                            tied, bias
//   M2M-100   pre-norm     sinusoidal (fairseq)          biases                            tied
//   BART      post-norm    learned; norm after them      biases                            tied, bias
//   mBART     pre-norm     learned; norm after them      biases                            tied, bias
//   T5        pre-norm     a bias for buckets of         no biases, scores not scaled,     tied and scaled,
//             (RMS)        distances, one for a stack    own head width, a gate or none    or its own
//
// A family is a TransformerFamily (names of parameters) and a TransformerConfig (the values of config.json),
// and a TransformerType that describes the keys of config.json, in one file: transformer_config.cc (Marian,
// and Heed's own type), t5_config.cc, m2m100_config.cc, bart_config.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/config/stack_config.h"
#include "models/seq2seq.h"
#include "models/source_vocabulary.h"
#include "models/vocabulary_head.h"
#include "nn/positions/positions.h"
#include "nn/transformer_layer.h"

namespace heed::models {

struct TransformerConfig;

/// The names of a stack's parameters. Norms exist if they have names.
struct StackNames {
  std::string embedding;  ///< of its own, where the stacks share none
  std::string positions;  ///< before the names of the tables of positions
  std::string layer;      ///< followed by the number of the layer and a dot
  nn::LayerNames layer_names{};
  std::string embedding_norm{};  ///< of embeddings and positions
  std::string final_norm{};      ///< of a pre-norm stack
};

/// What all models of a family have in common.
struct TransformerFamily {
  std::string model_type;
  StackNames encoder, decoder;
  std::string shared_embedding = "model.shared.weight";
  std::string optional_prefix{};        ///< of all names, which some files leave out; none where empty
  std::vector<std::string> left_out{};  ///< prefixes of tensors of no use here
};

/// Marian's names, also of Heed's own type.
const TransformerFamily& marian_family();

struct TransformerConfig : StackConfig {
  TransformerConfig() {
    width = 512, max_length = 512;
    dropout = 0.1;
  }

  const TransformerFamily* family = &marian_family();
  int64_t source_vocabulary = 0;  ///< 0: `vocabulary`
  bool share_embeddings = true;   ///< one embedding for source and target; requires one vocabulary
  int encoder_layers = 6, decoder_layers = 6;
  int encoder_heads = 8, decoder_heads = 8;
  int64_t encoder_inner_width = 2048, decoder_inner_width = 2048;
  bool depth_scaled_init = false;            ///< only affects training
  nn::NormKind norm = nn::NormKind::kLayer;  ///< Marian supports only this
  nn::PositionOptions positions;             ///< Marian supports only sinusoidal positions
  bool scale_embedding = true;               ///< by sqrt(d_model)
  int32_t end_id = 0, start_id = 0;

  // -- Of other families than Marian.
  int64_t head_width = 0;  ///< d_k; 0: D / H
  double score_scale = 0;  ///< of attention; 0: 1 / sqrt(d_k)
  bool output_bias = true;
  double output_scale = 1;           ///< of the decoder's output, before the output layer
  bool final_dropout = false;        ///< `dropout` also of the output of each stack
  bool limited_length = true;        ///< false: max_length is only written to config.json
  bool forbids_padding = true;       ///< search never writes the padding token
  bool translates_sentences = true;  ///< Seq2Seq::translates_sentences()
  bool trains_padding = false;       ///< its embedding is trained, as that of any token
  int32_t first_row = 0;             ///< of the table of positions: that of the first token
  nn::SinusoidFrequencies frequencies = nn::SinusoidFrequencies::kByWidth;
  bool padding_has_position = true;  ///< false: as in M2M-100, with kByHalves
};

class Transformer : public Seq2Seq, public SourceVocabulary, public VocabularyHead {
 public:
  /// Registers all parameters. Throws for an invalid config.
  explicit Transformer(const TransformerConfig& config);

  const TransformerConfig& config() const { return config_; }
  nlohmann::ordered_json config_json() const override;
  std::vector<std::string> beyond_hugging_face() const override;
  int64_t vocabulary_size() const override { return config_.vocabulary; }
  int64_t source_vocabulary_size() const override { return config_.source_vocabulary; }
  int32_t start_id() const override { return config_.start_id; }
  int32_t end_id() const override { return config_.end_id; }
  int32_t padding_id() const override { return config_.padding_id; }
  int64_t max_length() const override { return config_.limited_length ? config_.max_length : 0; }
  bool takes_drafts() const override { return true; }
  bool forbids_padding() const override { return config_.forbids_padding; }
  bool translates_sentences() const override { return config_.translates_sentences; }
  HeadCount attention_heads(Stack stack) const override {
    if (stack == Stack::kEncoder) return {config_.encoder_layers, config_.encoder_heads};
    return {config_.decoder_layers, config_.decoder_heads};
  }

  /// The sinusoidal positions of a stack, as it computes with them, of the first `count` tokens: (count, D)
  Tensor sinusoidal_positions(Stack stack, int64_t count) const;

  /// source -> memory (Ns, D)
  Var encode(nn::Context& context, const Sequences& source) const;
  /// The decoder output before the output layer: (Nt, D)
  Var decode(nn::Context& context, const Sequences& decoder_input, const Var& memory,
             const Sequences& source) const;

  ops::VocabularyLoss loss(nn::Context& context, const Sequences& source, const Sequences& decoder_input,
                           const std::vector<int32_t>& labels,
                           const ops::CrossEntropyOptions& options) const override;
  Var hidden(nn::Context& context, const Sequences& source, const Sequences& decoder_input) const override;
  Tensor logits(nn::Context& context, const Sequences& source, const Sequences& decoder_input) const override;
  Var final_norm(nn::Context& context, const Var& x) const override;
  Var vocabulary_logits(nn::Context& context, const Var& hidden) const override;

  std::unique_ptr<DecoderState> start(nn::Context& context) const override;
  std::vector<int32_t> admit(nn::Context& context, DecoderState& state,
                             const Sequences& source) const override;
  void release(DecoderState& state, int32_t sentence) const override;
  Tensor step(nn::Context& context, DecoderState& state, const std::vector<StepRow>& rows) const override;

 private:
  /// What embeds the tokens of one stack.
  struct Embedding {
    Stack stack = Stack::kEncoder;
    nn::ParamRef tokens;  // (V, D)
    nn::StackPositions positions;
    std::optional<nn::Norm> norm;
  };
  /// Embeds ids at positions positions[t]: scaled, with positions added and dropout: (N, D)
  Var embed(nn::Context& context, const Embedding& embedding, const std::vector<int32_t>& ids,
            const std::vector<int32_t>& positions) const;
  void add_embeddings();
  void add_output();
  void add_optional_names();
  std::vector<int32_t> positions_in(const Sequences& sequences) const;
  /// The final norm and dropout of a stack.
  Var finish(nn::Context& context, Stack stack, const Var& x) const;
  /// The input of the output layer.
  Var output_input(const Var& hidden) const;

  TransformerConfig config_;
  Embedding source_, target_;
  nn::Linear output_;
  std::vector<nn::TransformerLayer> encoder_, decoder_;
  nn::Norm encoder_norm_, decoder_norm_;  // with norm_first
};

}  // namespace heed::models
