// The state of a training on disk: the checkpoint, the snapshots, and the best weights in the model
// directory.
#pragma once

#include <functional>
#include <string>

#include "train/loop/optimizer.h"
#include "train/recipe/recipe.h"
#include "train/reduce/reducer.h"
#include "train/store/checkpoint.h"
#include "train/store/output_directory.h"
#include "train/store/snapshots.h"

namespace heed::train {

/// Only rank 0 reads and writes files. A kill between any two file operations leaves a training that can be
/// resumed with the same bits.
class TrainingStore {
 public:
  /// All must outlive the store. `checkpoint` is the current state. During training, the moments are in the
  /// optimizer, and a rank has only its slice of the average.
  struct Parts {
    const OutputDirectory& directory;
    const Recipe& recipe;
    const nn::ParameterTable& table;
    Reducer& reducer;
    Optimizer& optimizer;
    Checkpoint& checkpoint;
  };
  TrainingStore(const Parts& parts, std::function<void(const std::string&)> say);

  /// Rank 0, for a new training: writes the initial state.
  void begin(const BatchCursor& cursor);
  /// Rank 0, after the checkpoint was read: restores the best weights if they are missing or damaged. Throws
  /// kFormat if that is impossible.
  void resume(const BatchCursor& cursor);

  /// The following are called by all ranks. Brings them to the state of rank 0: afterwards each has its
  /// slices of the moments in the optimizer.
  void share();
  /// Writes the checkpoint.
  void save(const BatchCursor& cursor);
  /// Keeps the current weights for averaging.
  void take_snapshot();
  /// The weights for validation and for the model directory: averaged as the recipe says.
  const nn::ParameterArray& averaged_weights();
  /// Notes in the checkpoint that these are the best weights. Call write_best() after the next save().
  void note_best(const nn::ParameterArray& values);
  void write_best(const nn::ParameterArray& values) const;

 private:
  Checkpoint whole_checkpoint() const;
  void write(const Checkpoint& whole, const BatchCursor& cursor);
  const nn::ParameterArray& local_averaged_weights();
  std::string problem_of_best_weights() const;

  Parts parts_;
  std::function<void(const std::string&)> say_;
  Snapshots snapshots_;
  nn::ParameterArray snapshot_average_;
};

}  // namespace heed::train
