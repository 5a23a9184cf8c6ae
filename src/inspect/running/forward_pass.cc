#include "inspect/running/forward_pass.h"

#include <numeric>

#include "base/check.h"
#include "inspect/reading/state_recorder.h"
#include "inspect/running/hook_caller.h"
#include "inspect/running/model_ids.h"
#include "models/finite_output.h"

namespace heed {
namespace {

/// Of the recorded residual streams, those after whole layers; the output instead of the last one.
std::vector<Tensor> hidden_states(const std::vector<RecordedState>& states, Stack stack) {
  std::vector<Tensor> hidden;
  for (const RecordedState& each : states) {
    if (each.id.stack != stack) continue;
    if (each.id.kind == nn::StateKind::kOutput) hidden.pop_back();
    if (each.id.kind == nn::StateKind::kOutput || nn::ends_layer(each.id))
      hidden.push_back(each.value.clone());
  }
  return hidden;
}

void require_types(const models::LoadedModel& loaded, const ForwardOptions& options, size_t ids) {
  if (options.types.empty()) return;
  if (dynamic_cast<const models::Encoder*>(loaded.model.get()) == nullptr) {
    fail(ErrorKind::kUsage, "token types are for models of an encoder alone: leave them out");
  }
  if (options.types.size() != ids) {
    fail(ErrorKind::kShape, "there are {} token types for {} ids: give one for each", options.types.size(),
         ids);
  }
}

/// The logits of the rows that are asked for; undefined for an encoder without a head.
Tensor logits_of(const models::Model& model, nn::Context& context, const ModelInput& input, bool last_only) {
  if (model.task() == models::Task::kEmbedding) {
    run_stacks(model, context, input);
    return {};
  }
  const Sequences& predicting = input.target.count() > 0 ? input.target : input.source;
  std::vector<int32_t> rows(last_only ? 1 : predicting.ids.size(), predicting.offsets.back() - 1);
  if (!last_only) std::iota(rows.begin(), rows.end(), 0);
  Tensor logits = prediction_logits(model, context, input, rows).value();
  models::require_finite_output(logits);
  return logits;
}

}  // namespace

ForwardResult forward_pass(const models::LoadedModel& loaded, const std::vector<int32_t>& ids,
                           const std::vector<int32_t>& decoder_ids, const ForwardOptions& options) {
  ModelInput input = checked_input(*loaded.model, ids, decoder_ids);
  require_types(loaded, options, ids.size());
  input.types = options.types;
  StateRecorder recorder({nn::StateKind::kResidual, nn::StateKind::kOutput});
  HookCaller hooks(*loaded.model, options.hooks, options.hidden_states ? &recorder : nullptr);
  nn::Context context = loaded.context();
  context.states = &hooks;
  ForwardResult result;
  result.logits = logits_of(*loaded.model, context, input, options.last_only);
  result.encoder = hidden_states(recorder.states, Stack::kEncoder);
  result.decoder = hidden_states(recorder.states, Stack::kDecoder);
  for (const std::vector<Tensor>* stack : {&result.encoder, &result.decoder}) {
    for (const Tensor& each : *stack) models::require_finite_output(each);
  }
  return result;
}

}  // namespace heed
