// A training that is ready for its next step: new, or at the last checkpoint.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/stop.h"
#include "base/text/option_error.h"
#include "base/thread_pool.h"
#include "train/loop/optimizer.h"
#include "train/loop/trainer.h"
#include "train/reduce/gradient_reduction.h"
#include "train/reduce/reducer.h"
#include "train/store/checkpoint.h"
#include "train/store/metrics_log.h"
#include "train/store/output_directory.h"
#include "train/store/training_store.h"
#include "train/tasks/task.h"

namespace heed::train {

class Training {
 public:
  /// Reads the text, checks everything before anything is written, writes tokenizer, corpora and the first
  /// checkpoint, or reads that of an earlier run, and brings all processes to the same state. Throws what
  /// train() does, and Cancelled.
  Training(const TrainerOptions& options, Reducer& reducer);

  const TrainerOptions options;  ///< without reports, but in the first process
  Reducer& reducer;
  const Stop stop;
  const Recipe& recipe;
  OutputDirectory directory;
  ThreadPool pool;
  std::unique_ptr<models::Model> model;
  Task task;
  std::unique_ptr<BatchSource> batches;
  std::unique_ptr<GradientReduction> reduction;
  std::unique_ptr<Optimizer> optimizer;
  Checkpoint checkpoint;
  std::optional<TrainingStore> store;
  std::optional<MetricsLog> log;  ///< in the first process

  void say(const std::string& message) const {
    if (options.on_message) options.on_message(with_option_names(message, options.option_names));
  }
  const nn::ParameterTable& table() const { return model->table(); }
  /// The recipe's, or fewer in a short training (batch_fit.h).
  int64_t batch_tokens() const {
    const int64_t decided = checkpoint.state.batch_tokens;
    return decided > 0 ? decided : recipe.batch_tokens;
  }
  std::unique_ptr<BatchSource> batches_at(const BatchCursor& cursor) const;

 private:
  void require_shards_with_tokens() const;
  CheckedText read_text(const TaskKind& kind);
  void make_task(const CheckedText& text);
  const models::Model& build_model(const models::ModelSettings& settings);
  void begin_with_weights(const std::vector<std::string>& new_prefixes);
  void begin_or_resume();
  void write_model_files(const ModelInventory& kept);
  void require_the_same_text() const;
  void compare_processors();
};

}  // namespace heed::train
