// The loss and the validation of a classifier in training.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/corpus/corpus.h"
#include "decode/text_classifier.h"
#include "models/classifier.h"
#include "text/wordpiece.h"
#include "train/recipe.h"
#include "train/task.h"

namespace heed::train {

/// The validation text.
struct LabelledTexts {
  std::vector<decode::ClassifierText> texts;
  std::vector<int32_t> labels;
  uint64_t fingerprint = 0;
};

/// Tokenizer and tokenized texts.
struct ClassificationData {
  WordPieceTokenizer tokenizer;
  Corpus training;                        ///< two streams: label index, and text with special tokens
  std::vector<float> class_weights = {};  ///< empty: 1 for each

  int32_t label_of(uint64_t text) const { return training.sentence(0, text)[0]; }
};

/// The model as a classifier. Throws kUsage if it cannot read texts of training.max_length.
const models::Classifier& classifier_of(const Recipe& recipe, const models::Model& model);

/// All arguments must outlive the result.
std::unique_ptr<Objective> classification_objective(const TaskInput& input, const ClassificationData& data,
                                                    const LabelledTexts& validation,
                                                    const models::Model& model);

}  // namespace heed::train
