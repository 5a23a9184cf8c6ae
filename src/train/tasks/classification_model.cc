#include "train/tasks/classification_model.h"

#include "base/check.h"
#include "metrics/confusion.h"
#include "train/loop/trainer.h"

namespace heed::train {

const models::Classifier& classifier_of(const Recipe& recipe, const models::Model& model) {
  const auto* classifier = dynamic_cast<const models::Classifier*>(&model);
  HEED_CHECK(classifier != nullptr);
  if (recipe.max_length > classifier->max_length()) {
    fail(ErrorKind::kUsage, "training.max_length ({}) must not be above model.max_length ({})",
         recipe.max_length, classifier->max_length());
  }
  return *classifier;
}

/// For a validation text.
struct Classification::Answer {
  double log_probability = 0;  ///< of the true class
  int best = 0;                ///< the predicted class
};

double Classification::weight(const Batch& batch) const {
  if (data_.class_weights.empty()) return static_cast<double>(batch.sentences.size());
  double sum = 0;
  for (const uint64_t text : batch.sentences) {
    sum += static_cast<double>(data_.class_weights[data_.label_of(text)]);
  }
  return sum;
}

BatchLoss Classification::loss(nn::Context& context, const Batch& batch, double scale) const {
  models::EncoderInput input;
  std::vector<int32_t> labels;
  for (const uint64_t text : batch.sentences) {
    labels.push_back(data_.label_of(text));
    const size_t begin = input.text.ids.size();
    data_.training.append(1, text, input.text.ids);
    input.text.close();
    int32_t type = 0;  // 0 for the first text of a pair, 1 for the second
    for (size_t n = begin; n < input.text.ids.size(); ++n) {
      input.types.push_back(type);
      if (input.text.ids[n] == data_.tokenizer.end_id()) type = 1;
    }
  }
  const models::ClassificationLoss loss = model_.loss(
      context, input, labels,
      {.class_weights = data_.class_weights, .smoothing = recipe_.label_smoothing, .scale = scale});
  return {loss.loss,
          {loss.loss_sum, loss.negative_log_likelihood, loss.weight,
           static_cast<int64_t>(input.text.ids.size())}};
}

ValidationScores Classification::validate(const nn::ParameterArray& values) const {
  const std::vector<Answer> found = classify(values);
  ConfusionMatrix confusion(model_.labels());
  double negative_log_likelihood = 0;
  for (size_t n = 0; n < found.size(); ++n) {
    negative_log_likelihood -= found[n].log_probability;
    confusion.add(data_.validation.labels[n], found[n].best);
  }
  ValidationScores scores;
  scores.loss = negative_log_likelihood / static_cast<double>(found.size());
  scores.quality = -scores.loss;
  scores.others = {{"accuracy", confusion.accuracy()}, {"macro_f1", confusion.macro_f1()}};
  for (const Score& score : scores.others) {
    if (score.name == recipe_.metric) scores.quality = score.value;
  }
  return scores;
}

/// Each process classifies some of the validation texts; all get all answers.
std::vector<Classification::Answer> Classification::classify(const nn::ParameterArray& values) const {
  const std::vector<tasks::ClassifierText>& texts = data_.validation.texts;
  const std::vector<int32_t>& labels = data_.validation.labels;
  std::vector<Answer> answers(texts.size());
  const Range own = input_.reducer.own_part(static_cast<int64_t>(answers.size()));
  input_.reducer.together([&] {
    const nn::PackedWeights weights(model_.table(), values);
    const tasks::TextClassifier classifier(model_, weights.context(), data_.tokenizer, input_.pool);
    const std::vector<tasks::Classification> found =
        classifier.classify({texts.begin() + own.begin, texts.begin() + own.end}, input_.stop);
    for (size_t n = 0; n < found.size(); ++n) {
      const size_t text = static_cast<size_t>(own.begin) + n;
      answers[text] = {found[n].log_probabilities[static_cast<size_t>(labels[text])], found[n].best};
    }
  });
  input_.reducer.gather(answers);
  return answers;
}

}  // namespace heed::train
