// All of a training's state in one file, so that a run that was stopped goes on as if it had not been.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/batcher.h"
#include "nn/parameters.h"

namespace heed::train {

struct TrainingState {
  int64_t step = 0;    ///< updates done
  BatchCursor cursor;  ///< of the next batch
  double seconds = 0;  ///< spent training
  int64_t target_tokens = 0;
  double best = 0;  ///< the best score so far; larger is better
  bool has_best = false;
  int validations_since_best = 0;
  std::vector<int64_t> snapshots;  ///< steps whose weights are kept, for averaging
};

struct Checkpoint {
  TrainingState state;
  nn::ParameterArray values, first_moment, second_moment;
  nn::ParameterArray average;  ///< undefined where none is kept
};

/// Writes `path` whole or not at all.
void write_checkpoint(const std::string& path, const nn::ParameterTable& table, const Checkpoint& checkpoint);

/// Nothing if there is no such file. Throws kFormat for a file that is damaged or of another model.
std::optional<Checkpoint> read_checkpoint(const std::string& path, const nn::ParameterTable& table);

}  // namespace heed::train
