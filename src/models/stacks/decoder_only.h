// A decoder-only Transformer: the language models of the GPT, Llama, Mistral, Qwen and Gemma families. All
// are the same pre-norm stack of causal layers (nn/transformer_layer.h) with different options:
//
//             positions                      norms                    feed-forward   attention
//   GPT-2     learned, added to embeddings   layer norm               GELU           with biases
//   Llama     rotary, on q and k             RMS norm                 SwiGLU         grouped queries
//   Mistral   rotary                         RMS norm                 SwiGLU         sliding window
//   Qwen 2    rotary                         RMS norm                 SwiGLU         biases of q, k, v
//   Qwen 3    rotary                         RMS norm, also of q, k   SwiGLU         grouped queries
//   Gemma 2   rotary                         sandwich RMS norm        GELU gate      soft cap, some windows
//   Gemma 3   rotary, two bases              sandwich, also of q, k   GELU gate      some windows
//
// A family is a DecoderOnlyFamily (names, norms, and the keys of its config.json) and a DecoderOnlyConfig
// (their values), in one file: gpt2_config.cc, llama_config.cc, mistral_config.cc, qwen_config.cc,
// gemma_config.cc. Directories are those of Hugging Face's GPT2LMHeadModel, LlamaForCausalLM and so on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/config/stack_config.h"
#include "models/language_model.h"
#include "models/vocabulary_head.h"
#include "nn/transformer_layer.h"
#include "ops/attention/rotary.h"

namespace heed::models {

class ConfigFields;
struct DecoderOnlyConfig;

/// What all models of a family have in common: norms, parameter names and storage format. Norms of queries
/// and keys and sandwich norms exist if layer_names has names for them.
struct DecoderOnlyFamily {
  std::string model_type;
  std::string embedding, positions;  ///< no name, no learnt positions
  std::string layer;                 ///< followed by the number of the layer and a dot
  nn::LayerNames layer_names;
  std::string final_norm, output;
  nn::NormKind norm = nn::NormKind::kLayer;
  double norm_weight_offset = 0;   ///< added to the weights of norms: 1 in Gemma
  std::string optional_prefix;     ///< of all names, which some files leave out; none where empty
  bool transposed_layers = false;  ///< layer matrices are stored as (in, out)

  // Names of computed tensors that old files store in each layer:
  std::string mask;                   ///< the look-ahead mask (1, 1, max_length, max_length)
  std::string frequencies;            ///< of rotary positions (d_k / 2)
  std::vector<std::string> left_out;  ///< of no use here

  std::string model_class;  ///< Hugging Face's
  /// The keys of config.json (models/config/config_fields.h).
  void (*describe)(ConfigFields& fields, DecoderOnlyConfig& config) = nullptr;
};

struct DecoderOnlyConfig : SingleStackConfig {
  DecoderOnlyConfig() {
    width = 128, layers = 4, heads = 4, inner_width = 512, max_length = 1024;
    activation = Activation::kGeluTanh;
    padding_id = -1;
  }

  const DecoderOnlyFamily* family = nullptr;
  int key_value_heads = 0;            ///< 0: as many as heads
  int64_t head_width = 0;             ///< d_k; 0: D / H
  bool attention_output_bias = true;  ///< with attention_bias: also in the last linear layer

  /// Whether scores are scaled by 1 / sqrt(d_k); and whether they are also divided by the layer number, from
  /// 1.
  bool scaled_scores = true, scaled_by_layer = false;
  double score_scale = 0;  ///< of scaled scores; 0: 1 / sqrt(d_k)
  double score_cap = 0;    ///< soft cap of attention scores; 0: none
  double logit_cap = 0;    ///< soft cap of logits; 0: none
  double embedding_scale = 1;
  /// The dtype of config.json, if a scale is rounded to it.
  DType weights_type = DType::kFloat32;

  int32_t start_id = -1, end_id = -1;       ///< -1: none, also of padding_id
  std::vector<int32_t> other_end_ids = {};  ///< if there are several

  /// What 0 stands for above.
  int actual_key_value_heads() const { return key_value_heads > 0 ? key_value_heads : heads; }
  int64_t actual_head_width() const { return head_width > 0 ? head_width : width / heads; }
  const Rotary& rotary_of(int layer) const { return slides(layer) ? sliding_rotary : rotary; }
};

class DecoderOnly : public LanguageModel, public VocabularyHead {
 public:
  /// Registers all parameters. Throws for an invalid config.
  explicit DecoderOnly(const DecoderOnlyConfig& config);

  const DecoderOnlyConfig& config() const { return config_; }
  nlohmann::ordered_json config_json() const override;
  int64_t vocabulary_size() const override { return config_.vocabulary; }
  int32_t start_id() const override { return config_.start_id; }
  int32_t end_id() const override { return config_.end_id; }
  int32_t padding_id() const override { return config_.padding_id; }
  int64_t max_length() const override { return config_.max_length; }
  bool takes_drafts() const override { return true; }
  HeadCount attention_heads(Stack stack) const override {
    return stack == Stack::kDecoder ? HeadCount{config_.layers, config_.heads} : HeadCount{};
  }

  /// The output of the final norm: (N, D).
  Var hidden(nn::Context& context, const Sequences& text) const override;
  Var final_norm(nn::Context& context, const Var& x) const override;
  Var vocabulary_logits(nn::Context& context, const Var& hidden) const override;

  ops::VocabularyLoss loss(nn::Context& context, const Sequences& text, const std::vector<int32_t>& labels,
                           const ops::CrossEntropyOptions& options) const override;
  Tensor logits(nn::Context& context, const Sequences& text) const override;

  std::unique_ptr<DecoderState> start(nn::Context& context) const override;
  std::vector<int32_t> admit(nn::Context& context, DecoderState& state, const Sequences& text) const override;
  void release(DecoderState& state, int32_t sentence) const override;
  Tensor step(nn::Context& context, DecoderState& state, const std::vector<StepRow>& rows) const override;

 private:
  /// The key-value caches of all layers and their rows; or none.
  struct Kept {
    std::vector<nn::LayerState>* layers = nullptr;
    std::vector<int32_t> rows = {};
  };
  Var embed(nn::Context& context, const std::vector<int32_t>& ids,
            const std::vector<int32_t>& positions) const;
  Var forward(nn::Context& context, const Sequences& text, const Kept& kept) const;
  /// The output of the last layer, normalized.
  Var finish(nn::Context& context, const Var& x) const;
  /// Rotary angles for these positions, of both kinds of layers; none with learned positions.
  struct Angles {
    std::optional<ops::RotaryAngles> full, sliding;
  };
  Angles angles(const std::vector<int32_t>& positions, DType dtype) const;
  const ops::RotaryAngles* angles_of(const Angles& angles, size_t layer) const;
  void follow_family();
  void expect_computed();

  DecoderOnlyConfig config_;
  nn::ParamRef embedding_, positions_;
  nn::Linear output_;
  std::vector<nn::TransformerLayer> layers_;
  nn::Norm final_norm_;
};

}  // namespace heed::models
