#include "inspect/attribution/leave_out.h"

#include <numeric>

#include "base/check.h"
#include "inspect/attribution/differentiable_model.h"
#include "models/finite_output.h"

namespace heed {
namespace {

/// Whether a token can be left out.
bool is_removable(const InspectedModel& model, const std::vector<int32_t>& ids,
                  const std::vector<bool>& special, size_t n) {
  if (special[n]) return false;
  return model.translation != nullptr || ids[n] != model.tokenizer->mask_id();
}

double value_of(const DifferentiableModel& model, const Explained& explained) {
  nn::Context context = model.context();
  const Var value = predicted_values(model.model(), context, explained, copies_of(explained, 1));
  models::require_finite_output(value.value());
  return value.value().to_vector<double>()[0];
}

/// One forward pass: of a prediction with or without a token.
struct LeaveOutRun {
  size_t prediction = 0;
  std::optional<Stack> stack{};  ///< unset: the whole text
  size_t token = 0;
};

Explained without(const Explained& whole, const LeaveOutRun& run) {
  Explained rest = whole;
  const auto erase = [&](auto& list) { list.erase(list.begin() + static_cast<std::ptrdiff_t>(run.token)); };
  const bool decoder = run.stack == Stack::kDecoder;
  erase(decoder ? rest.decoder_ids : rest.source_ids);
  if (!decoder && !rest.types.empty()) erase(rest.types);
  // The rows behind the token move up; in a model with a decoder, rows are the decoder's.
  const bool moves = decoder || whole.decoder_ids.empty();
  if (moves && static_cast<int32_t>(run.token) <= rest.row && rest.row > 0) --rest.row;
  return rest;
}

}  // namespace

std::vector<TokenAttribution> leave_tokens_out(const InspectedModel& model, const std::vector<Explained>& all,
                                               ThreadPool& pool) {
  std::vector<LeaveOutRun> runs;
  for (size_t n = 0; n < all.size(); ++n) {
    runs.push_back({n});
    for (const Stack stack : {Stack::kEncoder, Stack::kDecoder}) {
      const bool encoder = stack == Stack::kEncoder;
      const std::vector<int32_t>& ids = encoder ? all[n].source_ids : all[n].decoder_ids;
      for (size_t token = 0; token < ids.size(); ++token) {
        const std::vector<bool>& special = encoder ? all[n].source_special : all[n].decoder_special;
        if (!is_removable(model, ids, special, token)) continue;
        if (ids.size() == 1) {
          fail(ErrorKind::kUsage,
               "leave-out needs a text of at least two tokens: without one of them, something must be left");
        }
        runs.push_back({n, stack, token});
      }
    }
  }
  const DifferentiableModel differentiable(model);
  std::vector<double> values(runs.size());
  pool.run(runs.size(), [&](size_t n) {
    const Explained& whole = all[runs[n].prediction];
    values[n] = value_of(differentiable, runs[n].stack ? without(whole, runs[n]) : whole);
  });
  std::vector<TokenAttribution> found(all.size());
  std::vector<std::vector<double>> encoder(all.size()), decoder(all.size());
  for (size_t n = 0; n < runs.size(); ++n) {
    const size_t prediction = runs[n].prediction;
    TokenAttribution& each = found[prediction];
    ++each.evaluations;
    if (!runs[n].stack) {
      each.log_probability = values[n];
      encoder[prediction].resize(all[prediction].source_ids.size());
      decoder[prediction].resize(all[prediction].decoder_ids.size());
      continue;
    }
    auto& sums = *runs[n].stack == Stack::kEncoder ? encoder[prediction] : decoder[prediction];
    sums[runs[n].token] = each.log_probability - values[n];
  }
  for (size_t n = 0; n < all.size(); ++n) {
    found[n].values = attribution_values(all[n], encoder[n], decoder[n]);
    found[n].sum = std::accumulate(found[n].values.begin(), found[n].values.end(), 0.0);
  }
  return found;
}

}  // namespace heed
