#include "inspect/attribution/explained.h"

#include <algorithm>

#include "base/check.h"

namespace heed {

size_t Explained::values() const {
  const size_t targets = decoder_ids.size() - std::min(decoder_ids.size(), static_cast<size_t>(first_target));
  return sources() + targets;
}

Explained explained_token(const Reading& reading, size_t index, int32_t other) {
  Explained explained{.source_ids = reading.source_ids,
                      .types = reading.types,
                      .source_special = reading.source_special,
                      .row = reading.rows[index],
                      .id = reading.target_ids[index],
                      .other = other,
                      .first_target = reading.first_target_row};
  if (!reading.has_decoder()) return explained;
  const int32_t length = explained.row + 1;  // no later token counts
  explained.decoder_ids.assign(reading.decoder_ids.begin(), reading.decoder_ids.begin() + length);
  explained.decoder_special.assign(reading.decoder_special.begin(), reading.decoder_special.begin() + length);
  return explained;
}

ModelInput copies_of(const ModelInput& one, size_t count) {
  ModelInput batch;
  for (size_t n = 0; n < count; ++n) {
    if (one.source.count() > 0) batch.source.append(one.source.ids);
    if (one.target.count() > 0) batch.target.append(one.target.ids);
    batch.types.insert(batch.types.end(), one.types.begin(), one.types.end());
  }
  return batch;
}

ModelInput copies_of(const Explained& explained, size_t count) {
  ModelInput one{.types = explained.types};
  if (explained.has_encoder()) one.source.append(explained.source_ids);
  if (!explained.decoder_ids.empty()) one.target.append(explained.decoder_ids);
  return copies_of(one, count);
}

Var predicted_values(const models::Model& model, nn::Context& context, const Explained& explained,
                     const ModelInput& batch) {
  const Sequences& predicting = batch.target.count() > 0 ? batch.target : batch.source;
  std::vector<int32_t> rows;
  for (int b = 0; b < predicting.count(); ++b) rows.push_back(predicting.offsets[b] + explained.row);
  return log_probabilities(
      model, context, batch,
      {.rows = rows, .ids = std::vector<int32_t>(rows.size(), explained.id), .other = explained.other});
}

std::vector<float> attribution_values(const Explained& explained, const std::vector<double>& encoder,
                                      const std::vector<double>& decoder) {
  std::vector<float> values(encoder.begin(), encoder.end());
  const size_t first = explained.has_encoder() ? static_cast<size_t>(explained.first_target) : 0;
  for (size_t n = first; n < decoder.size(); ++n) values.push_back(static_cast<float>(decoder[n]));
  HEED_CHECK(values.size() == explained.values());
  return values;
}

}  // namespace heed
