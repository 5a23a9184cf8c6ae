// What differs between training a translation model, a language model and a classifier: the text and its
// tokenizer, the batches, the loss, and the validation metrics. Everything else (trainer.h) is the same for
// all.
//
// TaskKind::read reads the text; CheckedText::prepare makes a Task of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/tape.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "data/batch/batcher.h"
#include "models/directory/generation_defaults.h"
#include "models/directory/model_settings.h"
#include "models/model.h"
#include "nn/context.h"
#include "train/recipe/recipe.h"
#include "train/reduce/reducer.h"
#include "train/store/metrics_log.h"

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

/// Batches of the training text, in an order that depends only on the recipe, their size and the position.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual BatchCursor cursor() const = 0;
  /// Epochs so far, including the fraction of the current one.
  virtual double epochs() const = 0;
  /// The next batch, split into shards.
  virtual std::vector<Batch> next(size_t shards) = 0;
};

/// What a model is trained to do, and on what: all that the trainer needs to know.
struct Task {
  std::string amount;        ///< the size of the training data: "160000 pairs"
  uint64_t fingerprint = 0;  ///< of the training and validation data
  /// Batches of `batch_tokens` tokens: those of the recipe, or fewer (batch_fit.h).
  std::function<std::unique_ptr<BatchSource>(const BatchCursor& cursor, int64_t batch_tokens)> batches;

  /// The weight of a batch. The loss of an update is the sum of the losses of its batches, divided by the sum
  /// of their weights.
  std::function<double(const Batch& batch)> weight;
  /// The training loss of a batch. The gradients, if there is a tape, are those of scale * sum. Thread-safe.
  std::function<BatchLoss(nn::Context& context, const Batch& batch, double scale)> loss;
  /// Scores of some weights; empty without a validation text. They depend only on weights, text and recipe.
  /// The processes share the work; all get the same scores. Throws Cancelled, in all processes.
  std::function<ValidationScores(const nn::ParameterArray& values)> validate;

  /// Writes generation_config.json into a model directory; empty for models that generate no text.
  std::function<void(const std::string& directory)> write_generation_config;
  /// Called at the end of a training, with the directory of the best model; may be empty. Throws Cancelled.
  std::function<void(const std::string& directory)> finish;
};

/// Makes the model of a training, with vocabulary size, special tokens and labels from the text.
using MakeModel = std::function<const models::Model&(const models::ModelSettings& settings)>;

/// Text that has been read and checked; nothing has been written.
struct CheckedText {
  uint64_t fingerprint = 0;  ///< of the training and validation text as it was read
  /// Throws kUsage for a model that cannot read the batches; its vocabulary size is ignored.
  std::function<void(const models::Model& model)> require_fit;
  /// Creates tokenizer and corpora in the training's directory, or checks those of an earlier run, and has
  /// the model made, which must outlive the task. Throws kUsage if the text has changed since, kFormat for
  /// damaged files, Cancelled, and the errors of reading and writing.
  std::function<Task(const MakeModel& make_model)> prepare;
};

/// The input of TaskKind::read. Options, pool and reducer must outlive the task.
struct TaskInput {
  const TrainerOptions& options;
  ThreadPool& pool;
  Reducer& reducer;  ///< its first process writes the files; the others find all of them complete
  std::function<void(const std::string&)> say;
  bool begun = false;  ///< whether options.output has a training to resume
  Stop stop = {};
  std::function<void(const std::string&)> on_work = {};  ///< as TrainerOptions::on_work; may be empty
  void begin_work(const std::string& what) const {
    if (on_work) on_work(what);
  }
  std::function<void(double)> on_progress = {};  ///< as TrainerOptions::on_progress; may be empty
  void report_progress(double fraction) const {
    if (on_progress) on_progress(fraction);
  }
};

/// A kind of task: a row of a table.
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
  /// Cancelled, and the errors of reading.
  CheckedText (*read)(const TaskInput& input) = nullptr;
};

/// For TaskKind::check: throws kUsage if the options name no training text, or sentence pairs. `model` and
/// `text` describe the model and the text that it needs, for messages.
void require_text(const TrainerOptions& options, const char* model, const char* text);

/// Throws kUsage for standard input and pipes, since text is read several times.
void require_rereadable(const std::string& path);

/// The fingerprint of a training and a validation text.
uint64_t fingerprint_of_texts(uint64_t training, std::optional<uint64_t> validation);

/// The settings of the search of the model to fine-tune, which stay; a resumed training finds them in its own
/// directory. Nothing without training.from. Throws kFormat for unsupported ones.
std::optional<models::GenerationDefaults> generation_of_source(const TaskInput& input);

/// The losses of validation batches, each in a context for inference, on all threads of all processes. Throws
/// Cancelled, in all processes.
LossSums sum_losses(const TaskInput& input, const nn::PackedWeights& weights,
                    const std::vector<Batch>& batches,
                    const std::function<LossSums(nn::Context& context, const Batch& batch)>& loss);

const std::vector<TaskKind>& task_kinds();
/// Throws kUsage for a task without training.
const TaskKind& task_kind(models::Task task);

}  // namespace heed::train
