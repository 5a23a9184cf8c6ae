// The heads of encoder-only models: a classifier, and a masked language model.
#pragma once

#include <optional>
#include <vector>

#include "models/classifier.h"
#include "models/masked_language_model.h"
#include "models/stacks/encoder_only.h"

namespace heed::models {

extern template class WithEncoderStack<Classifier>;
extern template class WithEncoderStack<MaskedLanguageModel>;

/// logits = W_out norm(f(W_dense h + b)) + b of the vector h of a text, where f is tanh in BERT; most
/// families have no norm. Compatible with Hugging Face's BertForSequenceClassification, and so on.
class EncoderClassifier : public WithEncoderStack<Classifier> {
 public:
  explicit EncoderClassifier(const EncoderOnlyConfig& config);

  const std::vector<std::string>& labels() const override { return config_.labels; }

  /// The input of the last layer: the output of encode() (N, D) -> (B, D).
  Var pool(nn::Context& context, const Var& hidden, const Sequences& text) const;

  ClassificationLoss loss(nn::Context& context, const EncoderInput& input, const std::vector<int32_t>& labels,
                          const ClassificationOptions& options) const override;
  Var class_logits(nn::Context& context, const EncoderInput& input) const override;
  Tensor logits(nn::Context& context, const EncoderInput& input) const override;

 private:
  void accept_without_prefix(nn::ParamRef parameter);

  nn::Linear dense_, output_;
  std::optional<nn::Norm> norm_;
};

/// logits = E norm(f(W h + b)) + c with the token embeddings E. Compatible with BertForMaskedLM, and so on.
class EncoderMaskedLm : public WithEncoderStack<MaskedLanguageModel> {
 public:
  explicit EncoderMaskedLm(const EncoderOnlyConfig& config);

  Tensor logits(nn::Context& context, const EncoderInput& input,
                const std::vector<int32_t>& positions) const override;
  Var final_norm(nn::Context& context, const Var& x) const override { return stack_.final_norm(context, x); }
  Var vocabulary_logits(nn::Context& context, const Var& hidden) const override;

 private:
  nn::Linear dense_, output_;
  nn::Norm norm_;
};

}  // namespace heed::models
