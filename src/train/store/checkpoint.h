// The state of a training in one file, so that an interrupted run resumes with the bits of one that was not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/batch/batcher.h"
#include "nn/storage/parameters.h"
#include "train/store/metrics_log.h"

namespace heed::train {

constexpr int64_t kNotFinished = -1;

struct TrainingState {
  int64_t step = 0;    ///< updates done
  BatchCursor cursor;  ///< of the next batch
  double seconds = 0;  ///< spent training
  int64_t target_tokens = 0;
  double best = 0;  ///< the best score so far; larger is better
  bool has_best = false;
  /// The validation loss with it, which decides between equal scores. Earlier versions did not store it.
  std::optional<double> best_loss;
  int validations_since_best = 0;
  std::vector<int64_t> snapshots;  ///< steps whose weights are kept, for averaging
  uint64_t text = 0;               ///< Task::fingerprint
  int64_t kept_step = 0;           ///< of the weights in model.safetensors
  uint64_t kept_weights = 0;       ///< fingerprint_of() these
  int64_t batch_tokens = 0;        ///< the size of the batches, once it is decided (schedule_fit.h)
  /// The number of steps to which the schedule is fitted, or kNotYetFitted or kNeverFitted (schedule_fit.h).
  int64_t fitted_steps = 0;
  int64_t finished_step = kNotFinished;  ///< whose model Task::finish() completed
  /// The last step, if its validation was interrupted and is still to be done.
  std::optional<Metrics> unvalidated;
};

struct Checkpoint {
  TrainingState state;
  nn::ParameterArray values, first_moment, second_moment;
  nn::ParameterArray average;  ///< undefined where none is kept
};

/// Writes atomically.
void write_checkpoint(const std::string& path, const nn::ParameterTable& table, const Checkpoint& checkpoint);

/// Nothing if there is no such file. Throws kFormat for a file that is damaged, of another model, or without
/// a running average where one is needed.
std::optional<Checkpoint> read_checkpoint(const std::string& path, const nn::ParameterTable& table,
                                          bool needs_average);

/// As text, and back: exact.
std::string to_text(const TrainingState& state);
TrainingState state_from_text(const std::string& text);

/// Of all values.
uint64_t fingerprint_of(const nn::ParameterArray& values);

}  // namespace heed::train
