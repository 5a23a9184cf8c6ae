// What differs between training a translation model, a language model and a classifier: the text and its
// tokenizer, the batches, the loss, and the validation metrics. Everything else (trainer.h) is the same for
// all.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "autograd/tape.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "data/batch/batcher.h"
#include "distributed/communicator.h"
#include "models/model.h"
#include "models/model_settings.h"
#include "nn/context.h"
#include "train/metrics_log.h"
#include "train/recipe.h"

namespace heed::train {

struct TrainerOptions;

constexpr const char* kNeedsSharedDirectory =
    "all machines need the model directory, at the same path, on a file system that they share";

/// Sums over the tokens (or whatever has a loss) of some batches.
struct LossSums {
  double loss = 0;                     ///< as trained on: with label smoothing and weights
  double negative_log_likelihood = 0;  ///< of the references, without either
  double weight = 0;                   ///< what `loss` is divided by for the mean
  int64_t tokens = 0;                  ///< for the speed that is reported: tokens with a loss, or tokens read
  void add(const LossSums& other);
};

struct BatchLoss {
  Var loss;  ///< (1), the sum times the scale
  LossSums sums;
};

struct ValidationScores {
  double loss = 0;            ///< mean negative log-likelihood of the references, without smoothing
  std::vector<Score> others;  ///< other metrics, in the order of the log
  double quality = 0;         ///< the metric that selects the best weights; larger is better
};

// The text of a training passes through three stages. Each one creates the next, so nothing can be called too
// early:
//
//   CheckedText::prepare() -> PreparedText::objective(model) -> Objective
//                             PreparedText::batches(place)   -> BatchSource

/// Loss and validation of a model on the text.
class Objective {
 public:
  virtual ~Objective() = default;

  /// The weight of a batch. The loss of an update is the sum of the losses of its batches, divided by the sum
  /// of their weights.
  virtual double weight(const Batch& batch) const = 0;
  /// The training loss of a batch. The gradients, if there is a tape, are those of scale * sum. Thread-safe.
  virtual BatchLoss loss(nn::Context& context, const Batch& batch, double scale) const = 0;

  virtual bool has_validation() const = 0;
  /// Depends only on weights, text and recipe. The ranks share the work; all get the same scores. Throws
  /// Stopped, on all ranks.
  virtual ValidationScores validate(const nn::ParameterArray& values) const = 0;

  /// Writes the files of a model directory other than configuration, weights and tokenizer.
  virtual void write_files(const std::string& directory) const = 0;
  /// Called at the end of a training, with the directory of the best model. Throws Stopped.
  virtual void finish(const std::string& /*directory*/) const {}
};

/// Batches of the training text, in an order that depends only on the recipe and the position.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual BatchCursor place() const = 0;
  /// Epochs so far, including the fraction of the current one.
  virtual double epochs() const = 0;
  /// The next batch, split into shards.
  virtual std::vector<Batch> next(size_t shards) = 0;
};

/// Tokenizer and corpora in the training's directory.
class PreparedText {
 public:
  virtual ~PreparedText() = default;
  /// Of the training and validation data.
  virtual uint64_t fingerprint() const = 0;
  /// The size of the training data: "160000 pairs".
  virtual std::string amount() const = 0;
  /// Fills in what the text determines: vocabulary size, special tokens, labels.
  virtual void complete(models::ModelSettings& settings) const = 0;

  // Text and model must outlive the results.
  virtual std::unique_ptr<BatchSource> batches(const BatchCursor& place) const = 0;
  /// Throws kUsage for a model that cannot read the batches.
  virtual std::unique_ptr<Objective> objective(const models::Model& model) const = 0;
};

/// Text that has been read and checked; nothing has been written.
class CheckedText {
 public:
  virtual ~CheckedText() = default;
  /// Of the training and validation text as it was read.
  virtual uint64_t fingerprint() const = 0;
  /// Throws kUsage for a model that cannot read the batches; its vocabulary size is ignored.
  virtual void require_fit(const models::Model& model) const = 0;
  /// Creates tokenizer and corpora in the training's directory, or checks those of an earlier run. Throws
  /// kUsage if the text has changed since, kFormat for damaged files, Stopped, and the errors of reading and
  /// writing. This must outlive the result.
  virtual std::unique_ptr<PreparedText> prepare() const = 0;
};

/// The input of TaskKind::read.
struct TaskInput {
  const TrainerOptions& options;
  ThreadPool& pool;
  std::function<void(const std::string&)> say;
  bool begun = false;  ///< whether options.output has a training to resume
  Stop stop = {};
  /// The processes that train together. Rank 0 writes the files; the others find all of them complete.
  distributed::Communicator* ranks = &distributed::single_process();
  std::function<void(const std::string&)> on_work = {};  ///< as TrainerOptions::on_work; may be empty
  void begin_work(const std::string& what) const {
    if (on_work) on_work(what);
  }
  std::function<void(double)> on_progress = {};  ///< as TrainerOptions::on_progress; may be empty
  void report_progress(double fraction) const {
    if (on_progress) on_progress(fraction);
  }
};

/// A task as a row of a table.
struct TaskKind {
  models::Task task = models::Task::kTranslation;
  std::string name;      ///< of --task
  std::string training;  ///< as messages call it: "training a translator"
  /// The files that its tokenizer writes.
  std::vector<std::string> tokenizer_files;
  /// The part of a preset that depends on text and batches, not on the model.
  void (*preset)(models::PresetSize size, Recipe& recipe) = nullptr;
  /// Throws kUsage for options of another task.
  void (*check)(const TrainerOptions& options) = nullptr;
  /// Reads the text; options.output need not exist yet. Throws for unusable text, for contradictory settings,
  /// Stopped, and the errors of reading.
  std::unique_ptr<CheckedText> (*read)(const TaskInput& input) = nullptr;
};

/// For TaskKind::check: throws kUsage if the options name no training text, or sentence pairs. `model` and
/// `text` describe the model and the text that it needs, for messages.
void require_text(const TrainerOptions& options, const char* model, const char* text);

/// Throws kUsage for standard input and pipes, since text is read several times.
void require_rereadable(const std::string& path);

/// The losses of validation batches, each in a context for inference, on all threads of all ranks. Throws
/// Stopped, on all ranks.
LossSums sum_losses(const TaskInput& input, const nn::PackedWeights& weights,
                    const std::vector<Batch>& batches,
                    const std::function<LossSums(nn::Context& context, const Batch& batch)>& loss);

const std::vector<TaskKind>& task_kinds();
/// Throws kUsage for a task without training.
const TaskKind& task_kind(models::Task task);

}  // namespace heed::train
