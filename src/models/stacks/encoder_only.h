// An encoder-only Transformer: BERT (Devlin et al., "BERT: pre-training of deep bidirectional transformers
// for language understanding", 2019) and the families after it. All are the same stack of bidirectional
// layers (nn/transformer_layer.h) with different options:
//
//                  positions                       norms             feed-forward   particular
//   BERT           learned                         post, layer norm  GELU           token types, pooler
//   RoBERTa, XLM-R learned, after the padding id   post, layer norm  GELU
//   DistilBERT     learned                         post, layer norm  GELU
//   MPNet          as RoBERTa, and a relative bias  post, layer norm  GELU
//   ModernBERT     rotary, two bases               pre, no biases    GELU gate      windows in most layers
//
// A family is an EncoderOnlyFamily (names, and how its heads are built) and an EncoderOnlyConfig (everything
// that config.json says), which one file reads and writes: bert_config.cc, roberta_config.cc and so on. The
// heads are in encoder_heads.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/config/stack_config.h"
#include "models/encoder.h"
#include "nn/transformer_layer.h"
#include "ops/attention/rotary.h"

namespace heed::models {

class ConfigFields;
struct EncoderOnlyConfig;

/// What all models of a family have in common. A parameter without a name does not exist.
struct EncoderOnlyFamily {
  std::string model_type;
  /// Of Hugging Face's classes, before "Model", "ForSequenceClassification" and "ForMaskedLM".
  std::string class_prefix;
  std::string pretraining_class{};  ///< of masked language models with another head besides

  /// Before the names of the encoder's parameters, in models with a head; files may leave it out or add it.
  std::string prefix;
  std::string words, positions, types, embedding_norm;  ///< of the embeddings
  std::string layer;                                    ///< followed by the number of the layer and a dot
  nn::LayerNames layer_names;
  std::string relative_bias{};       ///< a bias of scores for the distances of tokens, which all layers share
  std::string first_attention_norm;  ///< as in layer_names, of the first layer
  std::string final_norm{};
  /// Other parts of the encoder that files may hold.
  std::vector<std::string> left_out{};

  // A classifier: `output` (f(`dense` h)) of the pooled vector h, with a norm after f where it has a name.
  struct ClassifierHead {
    std::string dense, norm{}, output;
    bool dropout_before_dense = false;  ///< besides the dropout before `output`
  } classifier;
  // A masked language model: E norm(f(`dense` h)) + `bias` with the embeddings E, or `weight` if untied.
  struct VocabularyHead {
    std::string dense, norm, weight, bias;
    std::string other_bias{};             ///< another name of the bias in files
    std::vector<std::string> left_out{};  ///< other heads of the pretraining
  } vocabulary;

  /// The keys of config.json (models/config/config_fields.h).
  void (*describe)(ConfigFields& fields, EncoderOnlyConfig& config) = nullptr;
};

/// The vector of a text: that of its first token, or the mean of all.
enum class EncoderPooling { kFirst, kMean };
/// The head on top of the encoder.
enum class EncoderHead { kNone, kClassifier, kVocabulary };

struct EncoderOnlyConfig : SingleStackConfig {
  EncoderOnlyConfig() {
    width = 768, layers = 12, heads = 12, inner_width = 3072, max_length = 512;
    activation = Activation::kGelu;
    norm_epsilon = 1e-12;
    embedding_dropout = dropout = attention_dropout = 0.1;
  }

  const EncoderOnlyFamily* family = nullptr;
  EncoderHead head = EncoderHead::kNone;
  int64_t types = 0;         ///< rows of the table of token types, where the family has one
  bool reads_types = false;  ///< otherwise all tokens have the type 0
  /// Learned positions begin at this row + 1, and tokens of this id have this row; -1: they begin at row 0.
  int32_t position_padding_id = -1;
  /// Rows of the table of the relative bias, of which T5's 32 bidirectional buckets are used.
  int64_t relative_rows = 32;
  bool norm_bias = true;
  std::optional<double> attention_output_dropout{}, feed_forward_output_dropout{};  ///< instead of `dropout`
  /// Keys such as eos_token_id, which other libraries read, with their values.
  std::vector<std::pair<std::string, int64_t>> token_ids{};

  // Of the heads.
  std::vector<std::string> labels{};  ///< of the classes, in the order of their numbers; a classifier's
  EncoderPooling pooling = EncoderPooling::kFirst;  ///< a classifier's
  double classifier_dropout = 0.1;
  Activation classifier_activation = Activation::kTanh;  ///< f of the head of a classifier
  Activation vocabulary_activation = Activation::kGelu;  ///< f of that of a masked language model
  bool head_bias = true;                                 ///< in `dense` of both heads
  bool vocabulary_bias = true;
};

/// Embeddings and layers.
class EncoderStack {
 public:
  /// Registers all parameters, with the family's prefix if the model has a head. Throws for an invalid
  /// config.
  EncoderStack(nn::ParameterTable& table, const EncoderOnlyConfig& config);
  /// (N, D)
  Var forward(nn::Context& context, const EncoderInput& input) const;
  /// The final norm of pre-norm stacks: (N, D) -> (N, D).
  Var final_norm(nn::Context& context, const Var& x) const;
  /// The token embeddings (V, D).
  nn::ParamRef words() const { return words_; }

 private:
  Var embed(nn::Context& context, const EncoderInput& input) const;
  std::vector<int32_t> position_rows(const Sequences& text) const;
  std::vector<int32_t> types_of(const EncoderInput& input) const;
  void accept_other_names(nn::ParameterTable& table, const std::string& prefix) const;

  EncoderOnlyConfig config_;
  nn::ParamRef words_, positions_, type_table_;
  nn::Norm embedding_norm_;
  std::vector<nn::TransformerLayer> layers_;
  std::optional<nn::Norm> final_norm_;
};

/// The base of all models with this stack; `Interface` is the interface of their task.
template <typename Interface>
class WithEncoderStack : public Interface {
 public:
  explicit WithEncoderStack(const EncoderOnlyConfig& config)
      : config_(config), stack_(this->table_, config) {}

  const EncoderOnlyConfig& config() const { return config_; }
  nlohmann::ordered_json config_json() const override;
  int64_t vocabulary_size() const override { return config_.vocabulary; }
  int64_t width() const override { return config_.width; }
  int64_t max_length() const override { return config_.max_length; }
  int64_t types() const override { return config_.reads_types ? config_.types : 0; }
  int32_t padding_id() const override { return config_.padding_id; }
  HeadCount attention_heads(Stack stack) const override {
    return stack == Stack::kEncoder ? HeadCount{config_.layers, config_.heads} : HeadCount{};
  }
  Var encode(nn::Context& context, const EncoderInput& input) const override {
    return stack_.forward(context, input);
  }

 protected:
  EncoderOnlyConfig config_;
  EncoderStack stack_;
};

extern template class WithEncoderStack<Encoder>;

/// The encoder alone. Of files that also hold a head, the head is left out.
class EncoderOnly : public WithEncoderStack<Encoder> {
 public:
  explicit EncoderOnly(const EncoderOnlyConfig& config);
};

/// The model with the head that the config says.
std::unique_ptr<Model> make_encoder_only(const EncoderOnlyConfig& config);

}  // namespace heed::models
