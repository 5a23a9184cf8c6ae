// The loss and the validation of a classifier in training.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "data/corpus/corpus.h"
#include "models/classifier.h"
#include "tasks/text_classifier.h"
#include "text/tokenizers/encoder_tokenizer.h"
#include "train/loop/trainer.h"
#include "train/recipe/recipe.h"
#include "train/tasks/task.h"

namespace heed::train {

/// The validation text.
struct LabelledTexts {
  std::vector<tasks::ClassifierText> texts;
  std::vector<int32_t> labels;
  uint64_t fingerprint = 0;
};

/// Tokenizer and tokenized texts.
struct ClassificationData {
  ModelTokenizer tokenizer;
  Corpus training;  ///< two streams: label index, and text with special tokens
  LabelledTexts validation = {};
  std::vector<float> class_weights = {};  ///< empty: 1 for each

  int32_t label_of(uint64_t text) const { return training.sentence(0, text)[0]; }
};

/// The model as a classifier. Throws kUsage if it cannot read texts of training.max_length.
const models::Classifier& classifier_of(const Recipe& recipe, const models::Model& model);

/// A classifier in training.
class Classification {
 public:
  Classification(const TaskInput& input, ClassificationData data, const models::Classifier& model)
      : input_(input), recipe_(input.options.recipe), data_(std::move(data)), model_(model) {}

  const ClassificationData& data() const { return data_; }

  double weight(const Batch& batch) const;
  BatchLoss loss(nn::Context& context, const Batch& batch, double scale) const;
  ValidationScores validate(const nn::ParameterArray& values) const;

 private:
  struct Answer;
  std::vector<Answer> classify(const nn::ParameterArray& values) const;

  const TaskInput input_;
  const Recipe& recipe_;
  const ClassificationData data_;
  const models::Classifier& model_;
};

}  // namespace heed::train
