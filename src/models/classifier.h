// The interface of text classifiers: encoder-only models such as BERT (Devlin et al., 2019).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/encoder.h"

namespace heed::models {

struct ClassificationOptions {
  /// Loss weight of each class; empty: 1 for all.
  std::vector<float> class_weights;
  /// Label smoothing (Szegedy et al., 2016) over all classes.
  double smoothing = 0;
  /// Gradients are multiplied by this.
  double scale = 1;
};

/// Sums over the texts of a batch.
struct ClassificationLoss {
  Var loss;                            ///< (1), the sum of the losses times the scale
  double loss_sum = 0;                 ///< sum of losses times class weights, without the scale
  double negative_log_likelihood = 0;  ///< sum of -log p of the labels, without smoothing and weights
  double weight = 0;    ///< sum of the class weights of all labels; their number without class weights
  int64_t correct = 0;  ///< number of correctly classified texts
};

class Classifier : public Encoder {
 public:
  Task task() const override { return Task::kClassification; }
  /// Names of the classes, by index.
  virtual const std::vector<std::string>& labels() const = 0;
  int classes() const { return static_cast<int>(labels().size()); }

  /// The loss of the correct classes (B).
  virtual ClassificationLoss loss(nn::Context& context, const EncoderInput& input,
                                  const std::vector<int32_t>& labels,
                                  const ClassificationOptions& options) const = 0;
  /// The logits of each text (B, classes), as a variable.
  virtual Var class_logits(nn::Context& context, const EncoderInput& input) const = 0;
  /// (B, classes)
  virtual Tensor logits(nn::Context& context, const EncoderInput& input) const = 0;
};

}  // namespace heed::models
