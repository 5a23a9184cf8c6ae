// Training of translation models, language models and classifiers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/error.h"

namespace heed {

/// What to train and for how long: the options of `heed train`. At least one of the limits max_steps,
/// max_minutes and max_epochs must be set, or, where there is validation data, validation.patience in the
/// recipe.
struct TrainOptions {
  /// The model directory to create. If it has an unfinished training, that training is resumed.
  std::string output;

  // -- Training data, as files. Translation: `pairs`, or `source` and `target`. Others: `text`.
  std::vector<std::string> pairs{};  ///< lines of SOURCE TAB TARGET; empty: the corpora of the recipe
  std::string source{}, target{};    ///< one sentence per line
  std::string text{};                ///< running text, or for a classifier lines of LABEL TAB TEXT
  std::string valid_pairs{};         ///< validation data, likewise; without it, the newest weights are kept
  std::string valid_source{}, valid_target{}, valid_text{};
  bool swap = false;   ///< swap source and target
  bool lossy = false;  ///< replace invalid UTF-8 instead of failing

  // -- The recipe. Later ones override earlier ones.
  std::string task{};            ///< translation, lm or classify; empty: that of the architecture
  std::string preset = "small";  ///< built-in recipe: tiny, small or base
  std::string recipe{};          ///< a TOML file; empty: none
  std::string from{};  ///< fine-tune the model in this directory (training.from); empty: from scratch
  std::vector<std::pair<std::string, std::string>> settings{};  ///< {"model.width", "512"}
  std::string languages{};  ///< stored in the model, such as "de-en"; empty: unknown

  int threads = 0;         ///< 0: one per processor; the weights do not depend on it
  int64_t max_steps = 0;   ///< updates in total; 0: no limit
  double max_minutes = 0;  ///< in total; 0: no limit
  double max_epochs = 0;   ///< passes over the data in total; 0: no limit
};

/// The state of a training after an update.
struct TrainStep {
  int64_t step = 0;
  double loss = 0;  ///< mean per token, with label smoothing and weights
  double learning_rate = 0;
  double gradient_norm = 0;
  int64_t target_tokens = 0;  ///< so far
  double target_tokens_per_second = 0;
  double seconds = 0;                                    ///< of training so far
  double epochs = 0;                                     ///< so far
  std::optional<double> valid_loss{};                    ///< set after a validation, like `scores`
  std::vector<std::pair<std::string, double>> scores{};  ///< {"bleu", 31.2}, ...
  bool best = false;                                     ///< whether this validation is the best so far
};

/// Callbacks of a training, called one at a time; all may be empty. Of processes that train together (see
/// train_model), only the first calls them. What they throw ends the training at once and reaches the caller;
/// the same call then resumes it from where it was saved last.
struct TrainCallbacks {
  std::function<void(const TrainStep&)> on_step{};       ///< after each update
  std::function<void(const std::string&)> on_message{};  ///< what was read, resumed or left out
  /// How messages call a field of TrainOptions; empty: by its name.
  std::function<std::string(const std::string& field)> option_names{};
  const std::atomic<bool>* cancelled = nullptr;  ///< set by another thread: save and return
};

enum class TrainEnd {
  kSteps,      ///< max_steps
  kMinutes,    ///< max_minutes
  kEpochs,     ///< max_epochs
  kPatience,   ///< early stopping by the recipe: validation.patience
  kCancelled,  ///< TrainCallbacks::cancelled
};

struct TrainResult {
  TrainEnd end = TrainEnd::kSteps;
  int64_t steps = 0;         ///< in total
  int64_t resumed_from = 0;  ///< the step of the resumed training; 0: a new one
  int64_t best_step = 0;     ///< whose weights are in the directory
  double seconds = 0;        ///< of training in total
};

/// Trains a model. Weights depend only on data, recipe and seed, bit for bit: not on threads, and not on
/// interruptions. Processes that mpirun has started train one model together, if all call this function
/// alike; weights do not depend on their number either. Throws Error: kUsage for invalid options and for a
/// directory with another training, kNumeric if the loss is not finite, and the errors of reading and writing
/// files.
TrainResult train_model(const TrainOptions& options, const TrainCallbacks& callbacks = {});

}  // namespace heed
