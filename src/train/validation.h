// How good the weights are: loss, BLEU and chrF on text that is not trained on.
#pragma once

#include <optional>

#include "models/seq2seq.h"
#include "train/training_data.h"
#include "train/training_step.h"

namespace heed::train {

struct ValidationScores {
  double loss = 0;  ///< -log p per target token, without smoothing
  std::optional<double> bleu, chrf;
};

/// A function of weights, data and recipe alone.
ValidationScores validate(const models::Seq2Seq& model, const nn::ParameterArray& values,
                          const TrainingData& data, const Recipe& recipe, TrainingStep& step,
                          ThreadPool& pool);

/// The score by which the recipe picks the best weights; larger is better.
double metric_of(const ValidationScores& scores, const Recipe& recipe);

}  // namespace heed::train
