#include "inspect/patching/patched_run.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "models/finite_output.h"

namespace heed {
namespace {

/// Replaces parts of the states of a batch, one patch for each copy of the text. The n-th state that passes
/// is of the same point of the model as the n-th of the clean run.
class PatchHook : public nn::StateHook {
 public:
  PatchHook(const CleanRun& clean, const RowAlignment& rows, const std::vector<Patch>& patches)
      : clean_(clean), rows_(rows), patches_(patches) {
    for (const RecordedState& state : clean.states) {
      if (!wants(state.id.kind)) kinds_.push_back(state.id.kind);
    }
  }
  bool wants(nn::StateKind kind) const override { return std::ranges::count(kinds_, kind) > 0; }
  Var pass(const nn::StateId& id, const Var& state) override {
    const size_t index = next_++;
    HEED_CHECK(index < clean_.states.size() && clean_.states[index].id.kind == id.kind);
    Tensor patched;
    for (size_t copy = 0; copy < patches_.size(); ++copy) {
      const std::vector<size_t>& states = patches_[copy].states;
      if (std::find(states.begin(), states.end(), index) == states.end()) continue;
      if (!patched.defined()) patched = state.value().clone();
      replace(clean_.states[index], copy, patched);
    }
    return patched.defined() ? Var(patched) : state;
  }

 private:
  /// Copies rows and columns of a clean state (tokens, width) into those of one copy in a batch.
  void replace(const RecordedState& from, size_t copy, Tensor& batch) const {
    const Patch& patch = patches_[copy];
    const int64_t width = batch.dim(1);
    const int64_t columns = patch.head < 0 ? width : width / from.id.heads;
    const int64_t first_column = patch.head < 0 ? 0 : patch.head * columns;
    const int64_t first_row = static_cast<int64_t>(copy) * (batch.dim(0) / count());
    const std::vector<int>& counterparts = rows_.of(from.id.stack);
    for (size_t row = 0; row < counterparts.size(); ++row) {
      if (counterparts[row] < 0 || (patch.row >= 0 && static_cast<size_t>(patch.row) != row)) continue;
      const float* values = from.value.data<float>() + static_cast<int64_t>(row) * width + first_column;
      float* const to = batch.data<float>() + (first_row + int64_t{counterparts[row]}) * width + first_column;
      std::copy_n(values, columns, to);
    }
  }
  int64_t count() const { return static_cast<int64_t>(patches_.size()); }

  const CleanRun& clean_;
  const RowAlignment& rows_;
  const std::vector<Patch>& patches_;
  std::vector<nn::StateKind> kinds_;
  size_t next_ = 0;
};

/// f of each of `count` copies of a text, whose states pass a hook.
std::vector<double> values_of(const InspectedModel& model, const PatchedText& text, size_t count,
                              nn::StateHook& hook) {
  ModelInput batch;
  PredictedTokens all{.other = text.predicted.other};
  const size_t length = text.decoder_ids.empty() ? text.source_ids.size() : text.decoder_ids.size();
  for (size_t n = 0; n < count; ++n) {
    if (!text.source_ids.empty()) batch.source.append(text.source_ids);
    if (!text.decoder_ids.empty()) batch.target.append(text.decoder_ids);
    batch.types.insert(batch.types.end(), text.types.begin(), text.types.end());
    for (const int32_t row : text.predicted.rows) {
      all.rows.push_back(static_cast<int32_t>(n * length) + row);
    }
    all.ids.insert(all.ids.end(), text.predicted.ids.begin(), text.predicted.ids.end());
  }
  nn::Context context = model.loaded.context();  // whose products do not depend on the batch
  context.states = &hook;
  const Var found = log_probabilities(model.model(), context, batch, all);  // (count predictions)
  models::require_finite_output(found.value());
  const std::vector<double> each = found.value().to_vector<double>();
  const auto predictions = static_cast<std::ptrdiff_t>(text.predicted.rows.size());
  std::vector<double> sums;
  for (auto first = each.begin(); first != each.end(); first += predictions) {
    sums.push_back(std::accumulate(first, first + predictions, 0.0));
  }
  HEED_CHECK(sums.size() == count);
  return sums;
}

}  // namespace

std::vector<int> aligned_rows(const std::vector<int32_t>& clean, const std::vector<int32_t>& corrupted) {
  std::vector<int> rows(clean.size(), -1);
  const size_t shorter = std::min(clean.size(), corrupted.size());
  size_t begin = 0, end = 0;
  if (clean.size() == corrupted.size()) begin = shorter;
  while (begin < shorter && clean[begin] == corrupted[begin]) ++begin;
  while (end < shorter - begin && clean[clean.size() - 1 - end] == corrupted[corrupted.size() - 1 - end]) {
    ++end;
  }
  for (size_t n = 0; n < begin; ++n) rows[n] = static_cast<int>(n);
  for (size_t n = 1; n <= end; ++n) rows[clean.size() - n] = static_cast<int>(corrupted.size() - n);
  return rows;
}

PatchedText patched_text(const Reading& reading, const std::vector<size_t>& predictions, int32_t other) {
  PatchedText text{.source_ids = reading.source_ids, .types = reading.types, .predicted = {.other = other}};
  for (const size_t n : predictions) {
    text.predicted.rows.push_back(reading.rows[n]);
    text.predicted.ids.push_back(reading.target_ids[n]);
  }
  if (reading.has_decoder()) {
    const int32_t length = text.predicted.rows.back() + 1;  // no later token counts
    text.decoder_ids.assign(reading.decoder_ids.begin(), reading.decoder_ids.begin() + length);
  }
  return text;
}

CleanRun run_clean(const InspectedModel& model, const PatchedText& text,
                   const std::vector<nn::StateKind>& kinds) {
  StateRecorder recorder(kinds);
  CleanRun run;
  run.value = values_of(model, text, 1, recorder)[0];
  run.states = std::move(recorder.states);
  return run;
}

std::vector<double> run_patched(const InspectedModel& model, const PatchedText& text, const CleanRun& clean,
                                const RowAlignment& rows, const std::vector<Patch>& patches) {
  PatchHook hook(clean, rows, patches);
  return values_of(model, text, patches.size(), hook);
}

}  // namespace heed
