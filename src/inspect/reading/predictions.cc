#include "inspect/reading/predictions.h"

#include <numeric>

#include "base/check.h"
#include "inspect/reading/token_choice.h"
#include "models/embedding_indices.h"
#include "ops/cross_entropy.h"
#include "ops/elementwise.h"
#include "ops/scale.h"

namespace heed {

std::vector<size_t> chosen_predictions(const InspectedModel& model, const Reading& reading,
                                       const std::string& token) {
  const size_t count = reading.target_ids.size();
  if (count == 0) {
    fail(ErrorKind::kUsage, "there is no prediction to explain: {}",
         model.task() == models::Task::kMaskedLanguageModel
             ? fmt::format("give a text with a mask token ({})", model.tokenizer->mask_name())
             : "the model is an encoder without a head");
  }
  if (token != kAllTokens) return {choose_token(token, reading.target_tokens).index};
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

namespace {

int32_t token_or_label_id(const InspectedModel& model, const std::string& name) {
  if (model.task() == models::Task::kClassification) return model.find_class(name);
  const auto id = model.find(name);
  if (!id) {
    fail(ErrorKind::kUsage,
         "'{}' is not one token of the model's vocabulary: give one as the tokens are shown", name);
  }
  return *id;
}

}  // namespace

int32_t alternative_id(const InspectedModel& model, const Reading& reading, const std::string& name,
                       const std::vector<size_t>& chosen) {
  if (name.empty()) return -1;
  if (chosen.size() != 1) {
    fail(ErrorKind::kUsage,
         "an alternative is for one token of {}: choose it by its number or its text (--token)",
         chosen.size());
  }
  const int32_t id = token_or_label_id(model, name);
  if (id == reading.target_ids[chosen[0]]) {
    fail(ErrorKind::kUsage, "the alternative '{}' is the prediction itself: give another", name);
  }
  return id;
}

std::string alternative_name(const InspectedModel& model, int32_t id) {
  if (id < 0) return "";
  if (model.task() != models::Task::kClassification) return model.piece(id);
  return model.loaded.classifier().labels()[static_cast<size_t>(id)];
}

Var log_probabilities(const models::Model& model, nn::Context& context, const ModelInput& batch,
                      const PredictedTokens& tokens) {
  const Var logits = prediction_logits(model, context, batch, tokens.rows);  // (rows, V)
  const auto loss_of = [&](const std::vector<int32_t>& ids) {
    return ops::cross_entropy(logits, models::id_tensor(ids));  // (rows)
  };
  Var negative = ops::scale(loss_of(tokens.ids), -1);
  if (tokens.other < 0) return negative;
  return ops::add(negative, loss_of(std::vector<int32_t>(tokens.ids.size(), tokens.other)));
}

}  // namespace heed
