// The Transformer of "Attention is all you need" (Vaswani et al., 2017), for translation. By default
// compatible with Hugging Face's MarianMTModel.
#pragma once

#include "models/seq2seq.h"
#include "models/source_vocabulary.h"
#include "nn/positions.h"
#include "nn/transformer_layer.h"

namespace heed::models {

struct TransformerConfig {
  int64_t vocabulary = 0;         ///< of the target, and of the source unless it has its own
  int64_t source_vocabulary = 0;  ///< 0: `vocabulary`
  bool share_embeddings = true;   ///< one embedding for source and target; requires one vocabulary
  bool tied_output = true;        ///< the output layer has the weight of the target embedding
  int64_t width = 512;            ///< d_model
  int encoder_layers = 6, decoder_layers = 6;
  int encoder_heads = 8, decoder_heads = 8;
  int64_t encoder_inner_width = 2048, decoder_inner_width = 2048;
  Activation activation = Activation::kRelu;
  bool norm_first = false;                   ///< not supported by Marian
  bool depth_scaled_init = false;            ///< only affects training
  nn::NormKind norm = nn::NormKind::kLayer;  ///< Marian supports only this
  nn::PositionOptions positions;             ///< Marian supports only sinusoidal positions
  int64_t max_length = 512;                  ///< max_position_embeddings
  bool scale_embedding = true;               ///< by sqrt(d_model)
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
  int32_t padding_id = 0, end_id = 0, start_id = 0;
};

class Transformer : public Seq2Seq, public SourceVocabulary {
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
  int64_t max_length() const override { return config_.max_length; }
  HeadCount attention_heads(Stack stack) const override {
    if (stack == Stack::kEncoder) return {config_.encoder_layers, config_.encoder_heads};
    return {config_.decoder_layers, config_.decoder_heads};
  }

  /// source -> memory (Ns, D)
  Var encode(nn::Context& context, const Sequences& source) const;
  /// The decoder output before the output layer: (Nt, D)
  Var decode(nn::Context& context, const Sequences& decoder_input, const Var& memory,
             const Sequences& source) const;

  ops::VocabularyLoss loss(nn::Context& context, const Sequences& source, const Sequences& decoder_input,
                           const std::vector<int32_t>& labels, const ops::CrossEntropyOptions& options,
                           double scale) const override;
  Tensor logits(nn::Context& context, const Sequences& source, const Sequences& decoder_input) const override;

  std::unique_ptr<DecoderState> start(nn::Context& context) const override;
  std::vector<int32_t> admit(nn::Context& context, DecoderState& state,
                             const Sequences& source) const override;
  void release(DecoderState& state, int32_t sentence) const override;
  Tensor step(nn::Context& context, DecoderState& state, const std::vector<StepRow>& rows) const override;

 private:
  /// What embeds the tokens of one stack.
  struct Embedding {
    nn::ParamRef tokens;  // (V, D)
    nn::StackPositions positions;
  };
  /// Embeds ids at positions places[t]: scaled, with positions added and dropout: (N, D)
  Var embed(nn::Context& context, const Embedding& embedding, const std::vector<int32_t>& ids,
            const std::vector<int32_t>& places) const;
  void add_embeddings();

  TransformerConfig config_;
  Embedding source_, target_;
  nn::Linear output_;
  std::vector<nn::TransformerLayer> encoder_, decoder_;
  nn::Norm encoder_norm_, decoder_norm_;  // with norm_first
};

}  // namespace heed::models
