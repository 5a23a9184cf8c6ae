#include "inspect/lens/lens.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "inspect/reading/state_recorder.h"
#include "inspect/reading/sub_layer_names.h"
#include "models/finite_output.h"
#include "models/vocabulary_head.h"
#include "search/scoring.h"

namespace heed {
namespace {

/// `parts`: also those of which the residual stream is made.
std::vector<nn::StateKind> recorded_kinds(bool parts) {
  std::vector<nn::StateKind> kinds{nn::StateKind::kResidual, nn::StateKind::kAdded, nn::StateKind::kOutput};
  if (parts) kinds.insert(kinds.end(), {nn::StateKind::kTokens, nn::StateKind::kHeads});
  return kinds;
}

const char* part_name(const nn::StateId& id) {
  if (id.kind == nn::StateKind::kOutput) return "output";
  if (id.layer < 0) return "embedding";
  return sub_layer_name(id.sub_layer);
}

/// The Euclidean norm of each row, summed in double precision.
std::vector<float> row_norms(const Tensor& rows) {
  std::vector<float> norms;
  for (int64_t n = 0; n < rows.dim(0); ++n) {
    const float* row = rows.data<float>() + n * rows.dim(1);
    double sum = 0;
    for (int64_t i = 0; i < rows.dim(1); ++i)
      sum += static_cast<double>(row[i]) * static_cast<double>(row[i]);
    norms.push_back(static_cast<float>(std::sqrt(sum)));
  }
  return norms;
}

LensState lens_state(const RecordedState& recorded, int layers) {
  models::require_finite_output(recorded.value);
  LensState state;
  state.layer = recorded.id.kind == nn::StateKind::kOutput ? layers : recorded.id.layer + 1;
  state.part = part_name(recorded.id);
  state.width = static_cast<int>(recorded.value.dim(1));
  state.values = recorded.value.to_vector<float>();
  state.norms = row_norms(recorded.value);
  return state;
}

/// The states of a stack, and their tensors.
struct RecordedStack {
  LensStack stack;
  std::vector<RecordedState> recorded;
};

/// `parts`: with the vectors of which the states are made.
RecordedStack stack_from(const std::vector<RecordedState>& all, Stack which, bool parts) {
  RecordedStack found;
  int layers = 0;
  Tensor heads, added;  // of the sub-layer whose state comes next
  const auto vectors = [&](const Tensor& of) {
    return parts && of.defined() ? of.to_vector<float>() : std::vector<float>();
  };
  for (const RecordedState& each : all) {
    if (each.id.stack != which) continue;
    layers = std::max(layers, each.id.layer + 1);
    switch (each.id.kind) {
      case nn::StateKind::kTokens:
        found.stack.embeddings = vectors(each.value);
        continue;
      case nn::StateKind::kHeads:
        heads = each.value;
        continue;
      case nn::StateKind::kAdded:
        added = each.value;
        continue;
      case nn::StateKind::kResidual:
      case nn::StateKind::kOutput:
        break;
    }
    LensState& state = found.stack.states.emplace_back(lens_state(each, layers));
    if (added.defined()) state.added_norms = row_norms(added);
    state.added = vectors(std::exchange(added, {}));
    state.heads = vectors(std::exchange(heads, {}));
    found.recorded.push_back(each);
  }
  return found;
}

/// The logits that the output layer gives for vectors (N, D): (N, V). `normed`: after the final norm.
Tensor lens_logits(const InspectedModel& model, const models::VocabularyHead& head, const Tensor& vectors,
                   bool normed) {
  nn::Context context = model.loaded.context();
  const Var hidden = normed ? Var(vectors) : head.final_norm(context, vectors);  // (N, D)
  return head.vocabulary_logits(context, hidden).value();                        // (N, V)
}

/// The same for a state.
Tensor lens_logits(const InspectedModel& model, const models::VocabularyHead& head,
                   const RecordedState& state) {
  return lens_logits(model, head, state.value, state.id.kind == nn::StateKind::kOutput);
}

/// What the tokens of a stack are expected to predict; -1: the likeliest in the end.
std::vector<int32_t> expected_ids(const InspectedModel& model, const Reading& reading) {
  if (!reading.has_decoder()) {
    std::vector<int32_t> expected(reading.source_ids.size(), -1);
    const bool fills_masks = model.task() == models::Task::kMaskedLanguageModel;
    for (size_t n = 0; fills_masks && n < reading.rows.size(); ++n) {
      expected[static_cast<size_t>(reading.rows[n])] = reading.target_ids[n];
    }
    return expected;
  }
  std::vector<int32_t> expected(reading.decoder_ids.begin() + 1, reading.decoder_ids.end());
  const bool known = reading.rows.back() + 1 == static_cast<int32_t>(reading.decoder_ids.size());
  expected.push_back(known ? reading.target_ids.back() : -1);
  return expected;
}

class LogitLens {
 public:
  LogitLens(const InspectedModel& model, const models::VocabularyHead& head, int top)
      : model_(model), head_(head), top_(top) {}

  /// Sets what the last state decides.
  void complete(std::vector<int32_t>& expected, const RecordedState& output) const {
    if (std::find(expected.begin(), expected.end(), -1) == expected.end()) return;
    const Tensor logits = lens_logits(model_, head_, output);
    models::require_finite_output(logits);
    for (size_t n = 0; n < expected.size(); ++n) {
      if (expected[n] < 0) expected[n] = search::likeliest_ids(pieces_of(logits, n), 1).front();
    }
  }
  void predict(const RecordedState& recorded, const std::vector<int32_t>& expected, LensState& state) const {
    const Tensor logits = lens_logits(model_, head_, recorded);
    const std::vector<float> log_sums = search::log_sums_of(logits);
    for (size_t n = 0; n < log_sums.size(); ++n) {
      const std::span<const float> row = pieces_of(logits, n);
      const auto probability = [&](int32_t id) {
        return std::exp(static_cast<double>(row[id]) - static_cast<double>(log_sums[n]));
      };
      auto& predictions = state.predictions.emplace_back();
      for (const int32_t id : search::likeliest_ids(row, static_cast<size_t>(top_))) {
        predictions.push_back({model_.piece(id), probability(id)});
      }
      state.expected.push_back(static_cast<float>(probability(expected[n])));
    }
    state.log_sums = log_sums;
  }

 private:
  /// The logits of a row that are of pieces.
  std::span<const float> pieces_of(const Tensor& logits, size_t row) const {
    return {logits.data<float>() + static_cast<int64_t>(row) * logits.dim(1),
            static_cast<size_t>(model_.pieces())};
  }

  const InspectedModel& model_;
  const models::VocabularyHead& head_;
  int top_;
};

}  // namespace

Lens look_through(const InspectedModel& model, const Reading& reading, int top, ThreadPool& pool,
                  bool parts) {
  StateRecorder recorder(recorded_kinds(parts));
  nn::Context context = model.loaded.context();
  context.states = &recorder;
  run_stacks(model.model(), context, reading.input());

  Lens lens{.model = model.name(), .source = reading.source, .target = reading.target};
  RecordedStack encoder = stack_from(recorder.states, Stack::kEncoder, parts);
  RecordedStack decoder = stack_from(recorder.states, Stack::kDecoder, parts);
  encoder.stack.tokens = reading.encoder_tokens;
  encoder.stack.ids = reading.source_ids;
  decoder.stack.tokens = reading.decoder_tokens;
  decoder.stack.ids = reading.decoder_ids;
  const auto* head = dynamic_cast<const models::VocabularyHead*>(&model.model());
  if (head != nullptr && top > 0) {
    RecordedStack& predicting = reading.has_decoder() ? decoder : encoder;
    const LogitLens logit_lens(model, *head, top);
    std::vector<int32_t> expected = expected_ids(model, reading);
    logit_lens.complete(expected, predicting.recorded.back());
    for (const int32_t id : expected) lens.expected_tokens.push_back(model.piece(id));
    // The states of a recurrent layer are not what the output layer reads.
    const bool recurrent =
        std::any_of(predicting.recorded.begin(), predicting.recorded.end(),
                    [](const RecordedState& each) { return each.id.sub_layer == nn::SubLayer::kRecurrence; });
    pool.run(predicting.recorded.size(), [&](size_t n) {
      if (recurrent && n + 1 < predicting.recorded.size()) return;
      logit_lens.predict(predicting.recorded[n], expected, predicting.stack.states[n]);
    });
  }
  lens.encoder = std::move(encoder.stack);
  lens.decoder = std::move(decoder.stack);
  return lens;
}

std::vector<float> log_sums_at(std::span<const double> temperatures, const InspectedModel& model,
                               const Lens& lens, int position) {
  const LensStack& stack = predicting_stack(lens);
  const auto* head = dynamic_cast<const models::VocabularyHead*>(&model.model());
  if (head == nullptr || position < 1 || static_cast<size_t>(position) > stack.tokens.size()) return {};
  const LensState& last = stack.states.back();
  if (last.predictions.empty()) return {};
  const float* first = last.values.data() + (position - 1) * static_cast<int64_t>(last.width);
  const Tensor vector = Tensor::from(std::vector<float>(first, first + last.width), {1, last.width});
  const Tensor logits = lens_logits(model, *head, vector, last.part == "output");  // (1, V)
  const std::span<const float> row{logits.data<float>(), static_cast<size_t>(logits.size())};
  return search::log_sums_at(temperatures, row, search::log_sums_of(logits).front());
}

const LensStack& predicting_stack(const Lens& lens) {
  return lens.decoder.tokens.empty() ? lens.encoder : lens.decoder;
}

}  // namespace heed
