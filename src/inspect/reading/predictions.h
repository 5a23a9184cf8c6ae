// The predictions of a reading that are looked at, and the logarithms of their probabilities.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inspect/reading/reading.h"

namespace heed {

inline const std::string kAllTokens = "all";

/// The indices of the chosen predictions in Reading::target_ids: kAllTokens, or the one that choose_token()
/// finds. Throws kUsage for a reading without predictions, and for a token that it does not have.
std::vector<size_t> chosen_predictions(const InspectedModel& model, const Reading& reading,
                                       const std::string& token);

/// The id of an alternative to the one chosen prediction, a token or a label; -1 for an empty name. Throws
/// kUsage for several predictions, for what is not one token or label of the model, and for the prediction
/// itself.
int32_t alternative_id(const InspectedModel& model, const Reading& reading, const std::string& name,
                       const std::vector<size_t>& chosen);
/// How an alternative is shown; empty for -1.
std::string alternative_name(const InspectedModel& model, int32_t id);

/// Tokens (or labels) predicted at rows of the stack that predicts; of a classifier one for each sequence,
/// whatever the rows.
struct PredictedTokens {
  std::vector<int32_t> rows{};
  std::vector<int32_t> ids{};  ///< of each row
  int32_t other = -1;          ///< an alternative to all of them; -1: none
};

/// ln P(id), or with an alternative ln P(id) - ln P(other), of each prediction: (rows).
Var log_probabilities(const models::Model& model, nn::Context& context, const ModelInput& batch,
                      const PredictedTokens& tokens);

}  // namespace heed
