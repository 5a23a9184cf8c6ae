// What differs between training a translator, a language model and a classifier: the text and its tokenizer,
// what a batch is, which loss, and what validation measures. Everything else (trainer.h) is the same for all,
// and knows none of them by name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "autograd/tape.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "data/batcher.h"
#include "models/model.h"
#include "models/model_settings.h"
#include "nn/context.h"
#include "train/metrics_log.h"
#include "train/recipe.h"

namespace heed::train {

struct TrainerOptions;
class TrainingStep;

/// Which of two texts a batch is of.
enum class Part { kTraining, kValidation };

/// Sums over the words (or whatever has a loss) of some batches.
struct LossSums {
  double loss = 0;                     ///< as trained on: with label smoothing and weights
  double negative_log_likelihood = 0;  ///< of the right answers, without either
  double weight = 0;                   ///< what `loss` is divided by for the mean
  int64_t tokens = 0;                  ///< for the rate that is shown: those that have a loss, or are read
  void add(const LossSums& other);
};

struct BatchLoss {
  Var loss;  ///< (1), the sum times the scale
  LossSums sums;
};

struct ValidationScores {
  double loss = 0;            ///< -log p of the right answers, the mean, without smoothing
  std::vector<Score> others;  ///< what else is measured, in the order of the log
  double quality = 0;         ///< by which the recipe picks the best weights; larger is better
};

/// One training's text. Its construction (TaskKind::make) reads the text once and checks it, and writes
/// nothing; prepare() makes it ready to be trained on.
class Task {
 public:
  virtual ~Task() = default;

  /// Makes tokenizer and corpora in the training's directory, or checks those of an earlier run. Called once,
  /// and before all that follows but use(). Throws kUsage where the text has changed since, kFormat for files
  /// that are damaged, Stopped, and what reading and writing throw.
  virtual void prepare() = 0;
  /// Of all that is learnt from and validated with, once prepared.
  virtual uint64_t fingerprint() const = 0;

  /// Fills in what is known from the text: the vocabulary, special tokens, labels.
  virtual void complete(models::ModelSettings& settings) const = 0;
  /// The model that is trained, which must outlive this or the next call; before all that follows. Throws
  /// kUsage for one that cannot read the batches.
  virtual void use(const models::Model& model) = 0;
  /// Writes what a model directory of this kind holds besides configuration, weights and tokenizer.
  virtual void write_files(const std::string& directory) const = 0;
  /// How much there is to learn from: "160000 pairs".
  virtual std::string amount() const = 0;

  // -- Batches of the training text, in an order that is a function of the recipe and the place alone.
  virtual void begin(const BatchCursor& place) = 0;
  virtual BatchCursor place() const = 0;
  /// How many times all of the text was given out, with the part of the epoch under way.
  virtual double epochs() const = 0;
  /// The next batch, in as many parts.
  virtual std::vector<Batch> next_batch(size_t parts) = 0;

  /// The weight that loss() gives a batch. Its loss is trained on divided by that of all parts of an update.
  virtual double weight(Part part, const Batch& batch) const = 0;
  /// The loss of a batch, validated without smoothing. The gradients, if there is a tape, are those of scale
  /// * sum. Called by several threads at once.
  virtual BatchLoss loss(nn::Context& context, Part part, const Batch& batch, double scale) const = 0;

  /// When a training has reached its end: what is found out about the model that stands in the directory.
  /// Throws Stopped.
  virtual void finish(const std::string& /*directory*/) const {}

  virtual bool has_validation() const = 0;
  /// A function of weights, text and recipe alone.
  virtual ValidationScores validate(const nn::ParameterArray& values, TrainingStep& step,
                                    ThreadPool& pool) const = 0;
};

/// What a task is made from.
struct TaskInput {
  const TrainerOptions& options;
  ThreadPool& pool;
  std::function<void(const std::string&)> say;
  bool begun = false;  ///< whether options.output has a training to resume
  Stop stop = {};
  std::function<void(const std::string&)> on_work = {};  ///< as TrainerOptions::on_work; may be empty
  void begin_work(const std::string& what) const {
    if (on_work) on_work(what);
  }
};

/// A task as a row of a table.
struct TaskKind {
  models::Task task = models::Task::kTranslation;
  std::string name;      ///< of --task
  std::string training;  ///< as messages call it: "training a translator"
  /// The keys of recipes that not every task has and this one does; with the words that it takes, if these
  /// are not all there are.
  std::map<std::string, std::vector<std::string>> settings;
  /// The files of a model directory that its tokenizer writes.
  std::vector<std::string> tokenizer_files;
  /// The part of a preset that depends on text and batches, not on the model.
  void (*preset)(models::PresetSize size, Recipe& recipe) = nullptr;
  /// Throws kUsage for options that are another task's.
  void (*check)(const TrainerOptions& options) = nullptr;
  /// Reads the text, with options.output not yet there, perhaps. Throws for text that cannot be learnt from
  /// and for settings that contradict each other, Stopped, and what reading throws.
  std::unique_ptr<Task> (*make)(const TaskInput& input) = nullptr;
};

/// For TaskKind::check: throws kUsage unless the options name files of text to learn from and perhaps to
/// validate with, and no pairs. `model` is what is trained, `text` what it needs, for messages.
void require_text(const TrainerOptions& options, const char* model, const char* text);

/// Throws kUsage for standard input and pipes, as a text is read several times.
void require_rereadable(const std::string& path);

const std::vector<TaskKind>& task_kinds();
/// Throws kUsage for a task that nothing is trained for.
const TaskKind& task_kind(models::Task task);

}  // namespace heed::train
