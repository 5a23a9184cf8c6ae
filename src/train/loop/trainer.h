// Trains a model: from text to a model directory.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "base/text/option_error.h"
#include "data/corpus/readers/pairs_reader.h"
#include "distributed/communicator.h"
#include "train/recipe/recipe.h"
#include "train/store/metrics_log.h"

namespace heed::train {

/// Training or validation text; which fields are needed depends on the task.
struct TrainingText {
  PairsInput pairs = {};         ///< of sentences
  std::string text = {};         ///< running text, or lines of LABEL TAB TEXT
  LineReaderOptions lines = {};  ///< how `text` is read
  bool is_named() const { return pairs.is_named() || !text.empty(); }
};

struct TrainerOptions {
  std::string output;  ///< the model directory; a training in it is resumed
  /// Without pairs, those of recipe.corpora are used, read with `lines`, and with source and target exchanged
  /// if pairs.swap is set.
  TrainingText data;
  TrainingText validation;  ///< empty: no validation, and the newest weights are the best
  Recipe recipe;
  int threads = 0;         ///< 0: all processors; the result does not depend on it
  int64_t max_steps = 0;   ///< updates in all; 0: no limit
  double max_minutes = 0;  ///< of training in all; 0: no limit
  double max_epochs = 0;   ///< passes over the text in all, parts of one allowed; 0: no limit
  double checkpoint_minutes = 5;
  std::string source_language, target_language;  ///< kept in the tokenizer's config, e.g. "de"
  const std::atomic<bool>* stop = nullptr;       ///< set from outside: save and return
  /// Called when everything is ready for the first step. Before that, some libraries cannot be interrupted;
  /// the process may end at any time without leaving incomplete files. From then on, `stop` takes effect at
  /// once.
  std::function<void()> on_ready;
  std::function<void(const Metrics&)> on_step;  ///< after each update
  std::function<void(const std::string&)> on_message;
  /// How messages call the options: by the fields of TrainOptions if empty.
  OptionNames option_names;
  /// Called when something begins that may take long, before the first step or after the last: "training the
  /// tokenizer". It ends with the next call of any of these functions but on_progress.
  std::function<void(const std::string&)> on_work;
  /// Called during work of known length with the fraction that is done.
  std::function<void(double)> on_progress;
  /// The processes that train this model together, each with these options. Null: those that mpirun or srun
  /// has started (distributed/launch.h), which is this one alone where neither was used. The functions above
  /// are called on rank 0 alone, but for on_ready.
  distributed::Communicator* ranks = nullptr;
};

enum class TrainingEnd { kSteps, kMinutes, kEpochs, kPatience, kStopped };

struct TrainingSummary {
  TrainingEnd end = TrainingEnd::kSteps;
  int64_t steps = 0;
  int64_t resumed_from = 0;  ///< 0: from scratch
  int64_t best_step = 0;     ///< whose weights are those of the directory: of the best validation
  double seconds = 0;
};

/// Trains until a stopping criterion is met; at least one must be set. The weights after each step, and so
/// all files but those that hold times, are a function of data, recipe and seed, and depend neither on the
/// number of threads or processes nor on interruptions. Throws kUsage for another recipe or other data than
/// those of the training in `output`, kNumeric when the loss is no longer finite (the last checkpoint is
/// kept), and what reading and writing throw.
TrainingSummary train(const TrainerOptions& options);

}  // namespace heed::train
