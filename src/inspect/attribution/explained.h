// One prediction to explain: the sequence that leads to it, its row and token, and f of heed/attribution.h.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/attribution.h"
#include "inspect/reading/predictions.h"

namespace heed {

struct Explained {
  /// What the model reads for this prediction, and no more: the decoder's tokens up to its row.
  std::vector<int32_t> source_ids{}, decoder_ids{}, types{};
  std::vector<bool> source_special{}, decoder_special{};
  int32_t row = 0;           ///< that predicts, of the stack that does
  int32_t id = 0;            ///< the token
  int32_t other = -1;        ///< the alternative; -1: none
  int32_t first_target = 0;  ///< Reading::first_target_row

  bool has_encoder() const { return !source_ids.empty(); }
  /// The number of values of TokenAttribution: of source tokens, and of both.
  size_t sources() const { return has_encoder() ? source_ids.size() : static_cast<size_t>(first_target); }
  size_t values() const;
};

/// The prediction of target_ids[index]. `other`: an alternative; -1: none.
Explained explained_token(const Reading& reading, size_t index, int32_t other);

/// A batch of copies of a sequence.
ModelInput copies_of(const ModelInput& one, size_t count);
ModelInput copies_of(const Explained& explained, size_t count);

/// f of each copy in a batch (copies): explained.id at explained.row. All copies have the same length.
Var predicted_values(const models::Model& model, nn::Context& context, const Explained& explained,
                     const ModelInput& batch);

/// Values of rows of the encoder and of the decoder, as TokenAttribution::values.
std::vector<float> attribution_values(const Explained& explained, const std::vector<double>& encoder,
                                      const std::vector<double>& decoder);

}  // namespace heed
