#include "train/store/training_store.h"

#include <filesystem>
#include <utility>

#include "base/check.h"
#include "io/weight_files.h"
#include "models/directory/model_weights.h"

namespace heed::train {

TrainingStore::TrainingStore(const Parts& parts, std::function<void(const std::string&)> say)
    : parts_(parts), say_(std::move(say)), snapshots_(parts.directory.folder(), parts.table) {}

/// The checkpoint of step 0 is written after all other files and before the weights: weights without a
/// checkpoint always belong to a model that must not be overwritten.
void TrainingStore::begin(const BatchCursor& cursor) {
  note_best(parts_.checkpoint.values);
  write(parts_.checkpoint, cursor);
  write_best(parts_.checkpoint.values);  // from now on the directory is a valid model
}

/// model.safetensors is written after the checkpoint that names its weights, so a kill in between leaves the
/// previous weights. Those of the checkpoint's own step can be restored.
void TrainingStore::resume(const BatchCursor& cursor) {
  TrainingState& state = parts_.checkpoint.state;
  snapshots_.remove_all_but(state.snapshots);
  const std::string problem = problem_of_best_weights();
  if (problem.empty()) return;
  const std::string file = parts_.directory.weights();
  const nn::ParameterArray& values = local_averaged_weights();
  if (fingerprint_of(values) == state.kept_weights) {
    say_(fmt::format("'{}' {}: restored from the checkpoint", file, problem));
    write_best(values);
    return;
  }
  if (std::filesystem::exists(file)) {
    fail(ErrorKind::kFormat,
         "'{}' {}. The best weights so far were those of step {}, but the checkpoint is of step {}. Restore "
         "the file from a copy, or delete it to resume with the weights of step {}",
         file, problem, state.kept_step, state.step, state.step);
  }
  say_(fmt::format("'{}' {}: the best weights, of step {}, are lost and replaced by those of step {}", file,
                   problem, state.kept_step, state.step));
  state.has_best = false;
  state.best_loss.reset();
  state.validations_since_best = 0;
  note_best(values);
  write(parts_.checkpoint, cursor);
  write_best(values);
}

/// Describes the fault of model.safetensors; empty if it contains the weights named by the checkpoint.
std::string TrainingStore::problem_of_best_weights() const {
  if (!std::filesystem::exists(parts_.directory.weights())) return "is missing";
  const TrainingState& state = parts_.checkpoint.state;
  try {
    nn::ParameterArray found(parts_.table, DType::kFloat32);
    models::read_weights(WeightFiles::open(parts_.directory.path()), parts_.table, found);
    if (fingerprint_of(found) == state.kept_weights) return "";
    return fmt::format("does not contain the weights of step {} of this training", state.kept_step);
  } catch (const Error& error) {
    return fmt::format("is damaged ({})", error.what());
  }
}

void TrainingStore::share() {
  auto& [state, values, first_moment, second_moment, average] = parts_.checkpoint;
  Reducer& reducer = parts_.reducer;
  reducer.broadcast(state);
  reducer.broadcast(parts_.table, values);
  if (average.defined()) reducer.broadcast(parts_.table, average);
  parts_.optimizer.first_moment() = reducer.own_slices(parts_.table, std::exchange(first_moment, {}));
  parts_.optimizer.second_moment() = reducer.own_slices(parts_.table, std::exchange(second_moment, {}));
}

/// On rank 0; on the others, the result is not complete.
Checkpoint TrainingStore::whole_checkpoint() const {
  Reducer& reducer = parts_.reducer;
  Checkpoint whole = parts_.checkpoint;
  whole.first_moment = reducer.whole(parts_.table, parts_.optimizer.first_moment());
  whole.second_moment = reducer.whole(parts_.table, parts_.optimizer.second_moment());
  if (whole.average.defined()) reducer.gather_on_first(parts_.table, whole.average);
  return whole;
}

void TrainingStore::save(const BatchCursor& cursor) {
  const Checkpoint whole = whole_checkpoint();
  if (parts_.reducer.is_first()) write(whole, cursor);
}

void TrainingStore::write(const Checkpoint& whole, const BatchCursor& cursor) {
  Checkpoint written = whole;
  written.state.cursor = cursor;
  write_checkpoint(parts_.directory.checkpoint(), parts_.table, written);
  snapshots_.remove_all_but(written.state.snapshots);
}

void TrainingStore::note_best(const nn::ParameterArray& values) {
  TrainingState& state = parts_.checkpoint.state;
  state.kept_step = state.step;
  if (parts_.reducer.is_first()) state.kept_weights = fingerprint_of(values);
}

void TrainingStore::write_best(const nn::ParameterArray& values) const {
  if (!parts_.reducer.is_first()) return;
  models::write_weights(parts_.directory.path(), parts_.table, values, DType::kFloat32);
}

/// Older snapshots are removed after the next checkpoint.
void TrainingStore::take_snapshot() {
  const TrainingState& state = parts_.checkpoint.state;
  auto& kept = parts_.checkpoint.state.snapshots;
  if (parts_.reducer.is_first()) snapshots_.write(state.step, parts_.checkpoint.values);
  kept.push_back(state.step);
  if (static_cast<int>(kept.size()) > parts_.recipe.snapshots) kept.erase(kept.begin());
}

const nn::ParameterArray& TrainingStore::averaged_weights() {
  Checkpoint& checkpoint = parts_.checkpoint;
  Reducer& reducer = parts_.reducer;
  if (checkpoint.average.defined()) reducer.gather(parts_.table, checkpoint.average);
  const bool of_snapshots =
      parts_.recipe.averaging == Averaging::kLast && !checkpoint.state.snapshots.empty();
  if (!of_snapshots) return local_averaged_weights();
  if (reducer.is_first()) {  // which has the files
    local_averaged_weights();
  } else if (!snapshot_average_.defined()) {
    snapshot_average_ = nn::ParameterArray::unset(parts_.table);
  }
  reducer.broadcast(parts_.table, snapshot_average_);
  return snapshot_average_;
}

/// The same from the state of this rank alone.
const nn::ParameterArray& TrainingStore::local_averaged_weights() {
  const Checkpoint& checkpoint = parts_.checkpoint;
  if (parts_.recipe.averaging == Averaging::kRunning) return checkpoint.average;
  if (parts_.recipe.averaging == Averaging::kLast && !checkpoint.state.snapshots.empty()) {
    snapshot_average_ = snapshots_.mean(checkpoint.state.snapshots);
    return snapshot_average_;
  }
  return checkpoint.values;
}

}  // namespace heed::train
