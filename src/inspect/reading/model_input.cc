#include "inspect/reading/model_input.h"

#include "base/check.h"
#include "models/classifier.h"
#include "models/embedding_indices.h"
#include "models/language_model.h"
#include "models/masked_language_model.h"
#include "models/seq2seq.h"
#include "models/vocabulary_head.h"
#include "ops/embedding.h"

namespace heed {

Var run_stacks(const models::Model& model, nn::Context& context, const ModelInput& input) {
  if (const auto* seq2seq = dynamic_cast<const models::Seq2Seq*>(&model)) {
    return seq2seq->hidden(context, input.source, input.target);
  }
  if (const auto* language_model = dynamic_cast<const models::LanguageModel*>(&model)) {
    return language_model->hidden(context, input.target);
  }
  const auto* encoder = dynamic_cast<const models::Encoder*>(&model);
  HEED_CHECK(encoder != nullptr);
  return encoder->encode(context, {input.source, input.types});
}

Var prediction_logits(const models::Model& model, nn::Context& context, const ModelInput& input,
                      const std::vector<int32_t>& rows) {
  if (const auto* classifier = dynamic_cast<const models::Classifier*>(&model)) {
    return classifier->class_logits(context, {input.source, input.types});  // (B, classes)
  }
  const auto* head = dynamic_cast<const models::VocabularyHead*>(&model);
  if (head == nullptr) {
    fail(
        ErrorKind::kUsage,
        "the model is an encoder without a head, which predicts nothing: use a classifier, a masked language "
        "model, a language model or a translation model");
  }
  const Var hidden = run_stacks(model, context, input);                // (N, D)
  const Var chosen = ops::embedding(hidden, models::id_tensor(rows));  // (N, D) -> (rows, D)
  return head->vocabulary_logits(context, chosen);                     // (rows, V)
}

}  // namespace heed
