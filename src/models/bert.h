// BERT (Devlin et al., "BERT: pre-training of deep bidirectional transformers for language understanding",
// 2019): a Transformer encoder with learned positions, with a classifier or a masked language model on top.
// // // Compatible with Hugging Face's BertForSequenceClassification and BertForMaskedLM.
#pragma once

#include <string>
#include <vector>

#include "models/classifier.h"
#include "models/masked_language_model.h"
#include "nn/transformer_layer.h"

namespace heed::models {

struct BertConfig {
  int64_t vocabulary = 0;
  int64_t types = 2;    ///< number of token types: type_vocab_size
  int64_t width = 768;  ///< hidden_size
  int layers = 12;
  int heads = 12;
  int64_t inner_width = 3072;
  Activation activation = Activation::kGelu;
  int64_t max_length = 512;     ///< maximum number of positions
  double norm_epsilon = 1e-12;  ///< layer_norm_eps
  double dropout = 0.1, attention_dropout = 0.1;
  double classifier_dropout = 0.1;  ///< on the input of the classifier
  double deviation = 0.02;          ///< standard deviation of initial embeddings: initializer_range
  int32_t padding_id = 0;
  std::vector<std::string> labels;  ///< of the classes, in the order of their numbers; a classifier's
};

/// Embeddings and encoder layers.
///
///   x_t = LayerNorm(word + position + type),   then post-norm layers (nn::TransformerLayer)
class BertEncoder {
 public:
  /// Registers all parameters under "bert.". Throws for an invalid config.
  BertEncoder(nn::ParameterTable& table, const BertConfig& config);
  /// (N, D)
  Var forward(nn::Context& context, const ClassifierInput& input) const;
  /// The token embeddings (V, D).
  nn::ParamRef words() const { return words_; }

 private:
  Var embed(nn::Context& context, const ClassifierInput& input) const;

  int64_t max_length_, types_;
  int32_t padding_id_;
  double dropout_;
  nn::ParamRef words_, positions_, type_table_;
  nn::LayerNorm norm_;
  std::vector<nn::TransformerLayer> layers_;
};

/// pooled = tanh(W_p h_0 + b_p) of the first token's vector h_0, and logits = W pooled + b.
class BertClassifier : public Classifier {
 public:
  explicit BertClassifier(const BertConfig& config);

  const BertConfig& config() const { return config_; }
  nlohmann::ordered_json config_json() const override;
  int64_t vocabulary_size() const override { return config_.vocabulary; }
  const std::vector<std::string>& labels() const override { return config_.labels; }
  int64_t max_length() const override { return config_.max_length; }
  HeadCount attention_heads(Stack stack) const override {
    return stack == Stack::kEncoder ? HeadCount{config_.layers, config_.heads} : HeadCount{};
  }
  int64_t types() const override { return config_.types; }
  int32_t padding_id() const override { return config_.padding_id; }

  /// The output of the last layer (N, D).
  Var encode(nn::Context& context, const ClassifierInput& input) const;
  /// Pools the output of encode(): (N, D) -> (B, D).
  Var pool(nn::Context& context, const Var& hidden, const Sequences& text) const;

  ClassificationLoss loss(nn::Context& context, const ClassifierInput& input,
                          const std::vector<int32_t>& labels,
                          const ClassificationOptions& options) const override;
  Tensor logits(nn::Context& context, const ClassifierInput& input) const override;

 private:
  Var classify(nn::Context& context, const ClassifierInput& input) const;

  BertConfig config_;
  BertEncoder encoder_;
  nn::Linear pooler_, classifier_;
};

/// logits = E LayerNorm(f(W h + b)) + c with the token embeddings E.
class BertMaskedLm : public MaskedLanguageModel {
 public:
  explicit BertMaskedLm(const BertConfig& config);

  const BertConfig& config() const { return config_; }
  nlohmann::ordered_json config_json() const override;
  int64_t vocabulary_size() const override { return config_.vocabulary; }
  int64_t max_length() const override { return config_.max_length; }
  HeadCount attention_heads(Stack stack) const override {
    return stack == Stack::kEncoder ? HeadCount{config_.layers, config_.heads} : HeadCount{};
  }
  Tensor logits(nn::Context& context, const ClassifierInput& input,
                const std::vector<int32_t>& places) const override;

 private:
  BertConfig config_;
  BertEncoder encoder_;
  nn::Linear transform_;
  nn::LayerNorm norm_;
  nn::Linear output_;  // tied to the embeddings of tokens
};

}  // namespace heed::models
