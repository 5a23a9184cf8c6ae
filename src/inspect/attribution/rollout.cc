#include "inspect/attribution/rollout.h"

#include <numeric>

#include "base/check.h"
#include "inspect/trace/recorder.h"
#include "models/stacks/encoder_heads.h"

namespace heed {
namespace {

/// A row-major matrix of shares.
struct Shares {
  size_t rows = 0, columns = 0;
  std::vector<double> values{};

  static Shares identity(size_t n) {
    Shares shares{n, n, std::vector<double>(n * n)};
    for (size_t i = 0; i < n; ++i) shares.values[i * n + i] = 1;
    return shares;
  }
};

AttentionMatrix mean_matrix(const std::vector<AttentionMatrix>& heads) {
  AttentionMatrix mean = heads.at(0);
  for (size_t i = 0; i < mean.weights.size(); ++i) {
    double sum = 0;
    for (const AttentionMatrix& head : heads) sum += static_cast<double>(head.weights[i]);
    mean.weights[i] = static_cast<float>(sum / static_cast<double>(heads.size()));
  }
  return mean;
}

/// 1/2 own + 1/2 weights attended; without `own`, its half is 0.
Shares mixed(const AttentionMatrix& weights, const Shares& attended, const Shares* own) {
  Shares sum{static_cast<size_t>(weights.queries), attended.columns, {}};
  sum.values.resize(sum.rows * sum.columns);
  for (size_t row = 0; row < sum.rows; ++row) {
    double* const to = sum.values.data() + row * sum.columns;  // no columns: no values
    for (size_t key = 0; key < attended.rows; ++key) {
      const double weight = static_cast<double>(weights.at(static_cast<int>(row), static_cast<int>(key))) / 2;
      for (size_t n = 0; n < sum.columns; ++n) to[n] += weight * attended.values[key * sum.columns + n];
    }
    if (own == nullptr) continue;
    for (size_t n = 0; n < sum.columns; ++n) to[n] += own->values[row * sum.columns + n] / 2;
  }
  return sum;
}

}  // namespace

Rollout attention_rollout(const InspectedModel& model, const Reading& reading) {
  AttentionRecorder recorder;
  nn::Context context = model.loaded.context();
  context.sink = &recorder;
  run_stacks(model.model(), context, reading.input());
  const StackWeights &encoder = recorder.stack(Stack::kEncoder), &decoder = recorder.stack(Stack::kDecoder),
                     &cross = recorder.stack(Stack::kCross);
  if (encoder.empty() && decoder.empty()) {
    fail(ErrorKind::kUsage,
         "rollout is for Transformers, and this is a recurrent network: use integrated, gradient or "
         "leave-out");
  }
  Rollout rollout{.encoder_tokens = reading.source_ids.size(), .decoder_tokens = reading.decoder_ids.size()};
  Shares source = Shares::identity(rollout.encoder_tokens);
  for (const auto& layer : encoder) source = mixed(mean_matrix(layer), source, &source);
  if (decoder.empty()) {
    rollout.encoder = std::move(source.values);
    return rollout;
  }
  Shares own = Shares::identity(rollout.decoder_tokens);
  Shares from_source{rollout.decoder_tokens, rollout.encoder_tokens, {}};
  from_source.values.resize(from_source.rows * from_source.columns);
  for (size_t layer = 0; layer < decoder.size(); ++layer) {
    const AttentionMatrix self = mean_matrix(decoder[layer]);
    own = mixed(self, own, &own);
    from_source = mixed(self, from_source, &from_source);
    if (cross.empty()) continue;
    for (double& share : own.values) share /= 2;
    from_source = mixed(mean_matrix(cross[layer]), source, &from_source);
  }
  rollout.decoder = std::move(own.values);
  if (reading.has_encoder()) rollout.encoder = std::move(from_source.values);
  return rollout;
}

TokenAttribution rollout_of(const InspectedModel& model, const Rollout& rollout, const Explained& explained) {
  const auto row_of = [&](const std::vector<double>& shares, size_t columns, size_t count) {
    std::vector<double> row(count);
    const auto first = shares.begin() + static_cast<std::ptrdiff_t>(explained.row * columns);
    std::copy_n(first, count, row.begin());
    return row;
  };
  std::vector<double> encoder, decoder;
  if (!rollout.encoder.empty())
    encoder = row_of(rollout.encoder, rollout.encoder_tokens, rollout.encoder_tokens);
  if (!rollout.decoder.empty()) {
    decoder = row_of(rollout.decoder, rollout.decoder_tokens, explained.decoder_ids.size());
  }
  const auto* classifier = dynamic_cast<const models::EncoderClassifier*>(&model.model());
  if (classifier != nullptr && classifier->config().pooling == models::EncoderPooling::kMean) {
    const size_t tokens = rollout.encoder_tokens;
    encoder.assign(tokens, 0);
    for (size_t i = 0; i < rollout.encoder.size(); ++i) {
      encoder[i % tokens] += rollout.encoder[i] / static_cast<double>(tokens);
    }
  }
  TokenAttribution found;
  found.values = attribution_values(explained, encoder, decoder);
  found.sum = std::accumulate(found.values.begin(), found.values.end(), 0.0);
  return found;
}

}  // namespace heed
