// What training and use ask of a model that puts a text into one of some classes: encoder-only, as BERT
// (Devlin et al., 2019).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/sequences.h"
#include "models/model.h"
#include "nn/context.h"

namespace heed::models {

using heed::Sequences;

/// Texts as the model reads them, special tokens included.
struct ClassifierInput {
  Sequences text;
  /// Which of two texts a token belongs to, 0 or 1, as many as ids; empty: all to the first.
  std::vector<int32_t> types;
};

struct ClassificationOptions {
  /// How much the loss of a text of each class counts; empty: 1 for all. For classes that are rare.
  std::vector<float> class_weights;
  /// Label smoothing (Szegedy et al., 2016), spread over all classes.
  double smoothing = 0;
  /// The gradients are those of scale * sum of losses.
  double scale = 1;
};

/// Sums over the texts of a batch.
struct ClassificationLoss {
  Var loss;                            ///< (1), the sum of the losses times the scale
  double loss_sum = 0;                 ///< each loss times the weight of its class, without the scale
  double negative_log_likelihood = 0;  ///< sum of -log p of the labels, without smoothing and weights
  double weight = 0;                   ///< of all labels together: their number where no class has a weight
  int64_t correct = 0;                 ///< texts whose label is the likeliest class
};

class Classifier : public Model {
 public:
  Task task() const override { return Task::kClassification; }
  virtual int64_t vocabulary_size() const = 0;
  /// Of the classes, in the order of their numbers.
  virtual const std::vector<std::string>& labels() const = 0;
  int classes() const { return static_cast<int>(labels().size()); }
  /// The maximum input length in tokens, including special tokens.
  virtual int64_t max_length() const = 0;
  /// How many kinds of text ClassifierInput::types can tell apart: 1 where pairs are none of its business.
  virtual int64_t types() const = 0;
  virtual int32_t padding_id() const = 0;

  /// The loss of the numbers of the right classes (B).
  virtual ClassificationLoss loss(nn::Context& context, const ClassifierInput& input,
                                  const std::vector<int32_t>& labels,
                                  const ClassificationOptions& options) const = 0;
  /// (B, classes)
  virtual Tensor logits(nn::Context& context, const ClassifierInput& input) const = 0;
};

}  // namespace heed::models
