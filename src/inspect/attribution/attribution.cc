#include "inspect/attribution/attribution.h"

#include "base/check.h"
#include "inspect/attribution/gradient.h"
#include "inspect/attribution/leave_out.h"
#include "inspect/attribution/rollout.h"

namespace heed {
namespace {

/// The token of a vocabulary; -1 for zeros.
struct BaselineToken {
  int32_t source = -1, target = -1;
  std::string name = "zero";
};

BaselineToken baseline_of(const InspectedModel& model, const std::string& wanted) {
  if (wanted == "zero") return {};
  if (const TranslationTokenizer* tokenizer = model.translation) {
    if (wanted.empty()) {
      const int32_t source = tokenizer->source_vocabulary().unknown_id();
      return {source, tokenizer->unknown_id(), tokenizer->source_vocabulary().piece(source)};
    }
    const auto source = tokenizer->source_vocabulary().find(wanted),
               target = tokenizer->vocabulary().find(wanted);
    if (source && target) return {*source, *target, wanted};
    fail(ErrorKind::kUsage, "the vocabulary has no token '{}': give another baseline, or zero", wanted);
  }
  const ModelTokenizer& tokenizer = *model.tokenizer;
  if (wanted.empty()) {
    if (const auto mask = tokenizer.mask_id()) return {*mask, *mask, model.piece(*mask)};
    return {};
  }
  if (const auto id = model.find(wanted)) return {*id, *id, model.piece(*id)};
  fail(ErrorKind::kUsage, "the vocabulary has no token '{}': give another baseline, or zero", wanted);
}

/// By a method without a baseline.
std::vector<TokenAttribution> explain(const InspectedModel& model, const Reading& reading,
                                      const std::vector<Explained>& all, AttributionMethod method,
                                      ThreadPool& pool) {
  if (method == AttributionMethod::kLeaveOut) return leave_tokens_out(model, all, pool);
  std::vector<TokenAttribution> found(all.size());
  if (method == AttributionMethod::kRollout) {
    const Rollout rollout = attention_rollout(model, reading);
    for (size_t n = 0; n < all.size(); ++n) found[n] = rollout_of(model, rollout, all[n]);
  } else {
    HEED_CHECK(method == AttributionMethod::kGradient);
    const DifferentiableModel differentiable(model);
    pool.run(all.size(), [&](size_t n) { found[n] = gradient_times_input(differentiable, all[n]); });
  }
  return found;
}

}  // namespace

const char* attribution_method_name(AttributionMethod method) {
  return name_in(kAttributionMethods, method);
}

AttributionMethod attribution_method_named(const std::string& name) {
  return value_in(kAttributionMethods, "method", name);
}

Attribution attribute(const InspectedModel& model, const Reading& reading, const AttributionOptions& options,
                      ThreadPool& pool) {
  const bool integrated = options.method == AttributionMethod::kIntegrated;
  if (!options.baseline.empty() && !integrated) {
    fail(ErrorKind::kUsage, "a baseline is for integrated gradients alone: leave it out");
  }
  if (!(options.tolerance >= 1e-5 && options.tolerance <= 1)) {
    fail(ErrorKind::kUsage, "the tolerance must be from 0.00001 to 1, not {}", options.tolerance);
  }
  if (!options.instead.empty() && options.method == AttributionMethod::kRollout) {
    fail(ErrorKind::kUsage, "rollout follows the attention, whatever the token: leave out the alternative");
  }
  const std::vector<size_t> chosen = chosen_predictions(model, reading, options.token);
  const int32_t other = alternative_id(model, reading, options.instead, chosen);

  Attribution attribution{.model = model.name(),
                          .source = reading.source,
                          .target = reading.target,
                          .source_tokens = reading.source_tokens(),
                          .target_tokens = reading.target_tokens,
                          .method = options.method};
  if (integrated) {
    const BaselineToken baseline = baseline_of(model, options.baseline);
    attribution.baseline = baseline.name;
    attribution.tokens = integrated_gradients(DifferentiableModel(model), reading,
                                              {.chosen = chosen,
                                               .other = other,
                                               .baseline = {baseline.source, baseline.target},
                                               .tolerance = options.tolerance},
                                              pool);
  } else {
    std::vector<Explained> all;
    for (const size_t n : chosen) all.push_back(explained_token(reading, n, other));
    attribution.tokens = explain(model, reading, all, options.method, pool);
  }
  for (size_t n = 0; n < chosen.size(); ++n) {
    attribution.tokens[n].token = static_cast<int>(chosen[n]);
    attribution.tokens[n].instead = alternative_name(model, other);
  }
  return attribution;
}

}  // namespace heed
