#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/json_file.h"
#include "base/stop.h"
#include "distributed/agreement.h"
#include "distributed/collectives.h"
#include "distributed/launch.h"
#include "io/weight_files.h"
#include "models/architecture.h"
#include "models/fine_tuning.h"
#include "models/model_directory.h"
#include "tensor/finite.h"
#include "train/checkpoint.h"
#include "train/optimizer.h"
#include "train/output_directory.h"
#include "train/rank_checks.h"
#include "train/shared_state.h"
#include "train/snapshots.h"
#include "train/task.h"
#include "train/training_step.h"

namespace heed::train {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// One training run, on this rank. All ranks do the same; rank 0 alone writes and reports.
class Trainer {
 public:
  Trainer(const TrainerOptions& options, distributed::Communicator& ranks)
      : options_(options_of_rank(options, ranks)),
        ranks_(ranks),
        stop_(options.stop),
        recipe_(options.recipe),
        directory_(options.output),
        pool_(options.threads),
        kind_(task_kind(recipe_.task())) {}

  TrainingSummary run();

 private:
  static TrainerOptions options_of_rank(TrainerOptions options, const distributed::Communicator& ranks);
  void say(const std::string& message) const {
    if (options_.on_message) options_.on_message(message);
  }
  void prepare();
  void join();
  models::ModelSettings trial_settings() const;
  models::FineTunedModel make_model(const models::ModelSettings& settings) const;
  void check_settings();
  void build_model();
  void begin_with_weights(const std::vector<std::string>& new_prefixes);
  void begin_or_resume();
  void require_the_same_text() const;
  void restore_kept_weights();
  std::string problem_of_kept_weights() const;
  void write(Checkpoint whole);
  void save();
  void step();
  void finish_step(Metrics metrics);
  bool validate_now(const nn::ParameterArray& weights, Metrics& metrics);
  void note_kept(const nn::ParameterArray& values);
  void write_kept(const nn::ParameterArray& values);
  void take_snapshot();
  const nn::ParameterArray& weights_to_use();
  const nn::ParameterArray& gathered_weights_to_use();
  void warn_of_schedule_end();
  [[noreturn]] void stop_for_bad_numbers(double loss, double norm);
  void compare_processors();
  bool is_last_step() const;
  std::optional<TrainingEnd> reached_end() const;
  double seconds() const { return checkpoint_.state.seconds; }

  const TrainerOptions options_;
  distributed::Communicator& ranks_;
  const Stop stop_;
  const Recipe recipe_;
  OutputDirectory directory_;
  ThreadPool pool_;
  const TaskKind& kind_;
  std::unique_ptr<CheckedText> checked_;
  std::unique_ptr<PreparedText> text_;
  std::unique_ptr<BatchSource> batches_;
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<Objective> objective_;
  std::unique_ptr<TrainingStep> step_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<MetricsLog> log_;
  std::optional<Snapshots> snapshots_;
  /// During training, the moments are in the optimizer, and a rank has only its slice of the average.
  Checkpoint checkpoint_;
  nn::ParameterArray snapshot_average_;
  bool schedule_end_said_ = false;
  double last_saved_ = 0;
  double last_step_end_ = 0;
};

/// Sets the stop flag of all readers, and leaves reports to rank 0.
TrainerOptions Trainer::options_of_rank(TrainerOptions options, const distributed::Communicator& ranks) {
  if (!ranks.is_first()) {
    options.on_step = nullptr;
    options.on_message = options.on_work = nullptr;
    options.on_progress = nullptr;
  }
  for (TrainingText* text : {&options.data, &options.validation}) {
    text->lines.stop = text->pairs.lines.stop = Stop(options.stop);
  }
  return options;
}

/// The recipe's settings, with dummy values for those that the text determines.
models::ModelSettings Trainer::trial_settings() const {
  models::ModelSettings settings = recipe_.model;
  settings.vocabulary = recipe_.from.empty() ? 16 : 1;
  settings.padding_id = 0;
  settings.start_id = 1;
  settings.end_id = 2;
  settings.labels = {"first", "second"};
  return settings;
}

models::FineTunedModel Trainer::make_model(const models::ModelSettings& settings) const {
  const models::Architecture& architecture = models::architecture_named(recipe_.arch);
  if (recipe_.from.empty()) return {architecture.make(settings), {}};
  return models::read_for_fine_tuning(directory_.was_begun() ? directory_.path() : recipe_.from, architecture,
                                      settings);
}

/// Throws for invalid sizes and for a model that does not fit the text, before anything is written.
void Trainer::check_settings() {
  check_model_settings(recipe_);
  const auto trial = make_model(trial_settings());
  checked_->require_fit(*trial.model);
  const JsonObject config = JsonObject::parse(trial.model->config_json().dump(), "the model's config.json");
  models::architecture_named(recipe_.arch).read(config);  // as when the model is loaded
  if (!recipe_.from.empty() && !directory_.was_begun()) WeightFiles::open(recipe_.from);
}

/// Checks everything before anything is written. Rank 0 prepares all files; then the others read them.
void Trainer::prepare() {
  require_equal_ranks(ranks_, options_);
  bool begun = true;  // for the other ranks
  distributed::together(ranks_, [&] {
    kind_.check(options_);
    if (!ranks_.is_first()) return;
    directory_.check(recipe_);
    begun = directory_.was_begun();
  });
  if (options_.on_work) options_.on_work("reading the text");
  uint64_t fingerprint = 0;
  distributed::together(ranks_, [&] {
    checked_ = kind_.read({options_, pool_, [this](const std::string& text) { say(text); }, begun, stop_,
                           &ranks_, options_.on_work, options_.on_progress});
    fingerprint = checked_->fingerprint();
    if (ranks_.is_first()) check_settings();
  });
  require_equal_text(ranks_, fingerprint);
  distributed::together(ranks_, [&] {
    if (!ranks_.is_first()) return;
    directory_.open(recipe_);
    if (directory_.was_begun() != begun) {
      fail(ErrorKind::kUsage, "another process trained in '{}' meanwhile; run the command again",
           directory_.path());
    }
    text_ = checked_->prepare();
    build_model();
    begin_or_resume();
  });
  join();
}

/// Brings all ranks to the state of rank 0.
void Trainer::join() {
  distributed::together(ranks_, [&] {
    if (ranks_.is_first()) return;
    wait_for_file(directory_.checkpoint());
    text_ = checked_->prepare();
    build_model();
  });
  share_checkpoint(ranks_, model_->table(), checkpoint_, *optimizer_);
  if (!ranks_.is_first()) batches_ = text_->batches(checkpoint_.state.cursor);
  compare_processors();
}

/// Every rank computes the first shard of the next batch. The gradients must have the same bits.
void Trainer::compare_processors() {
  if (ranks_.size() == 1) return;
  const auto batches = text_->batches(checkpoint_.state.cursor);
  const std::vector<Batch> shards = batches->next(static_cast<size_t>(recipe_.shard_count()));
  const RandomKey key = RandomKey::from_seed(recipe_.seed);
  uint64_t fingerprint = 0;
  distributed::together(ranks_,
                        [&] { fingerprint = step_->fingerprint(shards[0], checkpoint_.values, key); });
  require_equal_gradients(ranks_, fingerprint);
}

void Trainer::build_model() {
  models::ModelSettings settings = recipe_.model;
  text_->complete(settings);
  const bool further = !recipe_.from.empty(), begun = directory_.was_begun();
  models::FineTunedModel made = make_model(settings);
  model_ = std::move(made.model);
  objective_ = text_->objective(*model_);
  const nn::ParameterTable& table = model_->table();
  step_ = std::make_unique<TrainingStep>(*objective_, table, pool_,
                                         TrainingStepOptions{recipe_.precision, stop_, &ranks_});
  optimizer_ = std::make_unique<Optimizer>(table, recipe_, ranks_);
  snapshots_.emplace(directory_.folder(), table);
  checkpoint_.values = nn::ParameterArray(table, DType::kFloat32);
  if (ranks_.is_first()) {
    checkpoint_.first_moment = nn::ParameterArray(table, DType::kFloat32);
    checkpoint_.second_moment = nn::ParameterArray(table, DType::kFloat32);
  }
  nn::initialise(table, checkpoint_.values, RandomKey::from_seed(recipe_.seed));
  if (further && !begun) begin_with_weights(made.new_prefixes);
  if (recipe_.averaging == Averaging::kRunning) {
    checkpoint_.average = nn::ParameterArray(table, DType::kFloat32);
    checkpoint_.average.flat() = checkpoint_.values.flat().clone();
  }
}

void Trainer::begin_with_weights(const std::vector<std::string>& new_prefixes) {
  const auto fresh =
      models::read_weights_over(recipe_.from, model_->table(), new_prefixes, checkpoint_.values);
  say(fmt::format("fine-tuning from the weights of '{}'", recipe_.from));
  if (!fresh.empty()) say(fmt::format("initialised at random: {}", fmt::join(fresh, ", ")));
}

/// The checkpoint of step 0 is written after all other files and before the weights: weights without a
/// checkpoint always belong to a model that must not be overwritten.
void Trainer::begin_or_resume() {
  auto found =
      read_checkpoint(directory_.checkpoint(), model_->table(), recipe_.averaging == Averaging::kRunning);
  write_json(directory_.path() + "/config.json", model_->config_json());
  objective_->write_files(directory_.path());
  if (found) {
    checkpoint_ = std::move(*found);
    require_the_same_text();
    say(fmt::format("resuming from step {}", checkpoint_.state.step));
  }
  batches_ = text_->batches(checkpoint_.state.cursor);
  if (found) {
    snapshots_->remove_all_but(checkpoint_.state.snapshots);
    restore_kept_weights();
  } else {
    checkpoint_.state.text = text_->fingerprint();
    note_kept(checkpoint_.values);
    write(checkpoint_);
    write_kept(checkpoint_.values);  // from now on the directory is a valid model
  }
  log_.emplace(directory_.folder() + "/metrics.jsonl", checkpoint_.state.step,
               [this](const std::string& text) { say(text); });
}

void Trainer::require_the_same_text() const {
  if (checkpoint_.state.text == text_->fingerprint()) return;
  fail(ErrorKind::kUsage,
       "the training or validation text has changed since the training in '{}' began; give the same text, or "
       "train into another directory",
       directory_.path());
}

/// Describes what is wrong with model.safetensors; empty if it contains the weights named by the checkpoint.
std::string Trainer::problem_of_kept_weights() const {
  if (!std::filesystem::exists(directory_.weights())) return "is missing";
  try {
    nn::ParameterArray found(model_->table(), DType::kFloat32);
    models::read_weights(directory_.path(), model_->table(), found);
    if (fingerprint_of(found) == checkpoint_.state.kept_weights) return "";
    return fmt::format("does not contain the weights of step {} of this training",
                       checkpoint_.state.kept_step);
  } catch (const Error& error) {
    return fmt::format("is damaged ({})", error.what());
  }
}

/// Restores lost weights. model.safetensors is written after the checkpoint that names its weights, so a kill
/// in between leaves the previous weights. Those of the checkpoint's own step can be restored.
void Trainer::restore_kept_weights() {
  const std::string problem = problem_of_kept_weights();
  if (problem.empty()) return;
  TrainingState& state = checkpoint_.state;
  const nn::ParameterArray& values = weights_to_use();
  if (fingerprint_of(values) == state.kept_weights) {
    say(fmt::format("'{}' {}: restored from the checkpoint", directory_.weights(), problem));
    write_kept(values);
    return;
  }
  if (std::filesystem::exists(directory_.weights())) {
    fail(ErrorKind::kFormat,
         "'{}' {}. The best weights so far were those of step {}, but the checkpoint is of step {}. Restore "
         "the file from a copy, or delete it to resume with the weights of step {}",
         directory_.weights(), problem, state.kept_step, state.step, state.step);
  }
  say(fmt::format("'{}' {}: the best weights, of step {}, are lost and replaced by those of step {}",
                  directory_.weights(), problem, state.kept_step, state.step));
  state.has_best = false;
  state.validations_since_best = 0;
  note_kept(values);
  write(checkpoint_);
  write_kept(values);
}

void Trainer::write(Checkpoint whole) {
  whole.state.cursor = batches_->place();
  write_checkpoint(directory_.checkpoint(), model_->table(), whole);
  snapshots_->remove_all_but(checkpoint_.state.snapshots);
}

/// Called by all ranks during training.
void Trainer::save() {
  Checkpoint whole = whole_checkpoint(ranks_, model_->table(), checkpoint_, *optimizer_);
  if (ranks_.is_first()) write(std::move(whole));
  last_saved_ = now();
}

void Trainer::note_kept(const nn::ParameterArray& values) {
  checkpoint_.state.kept_step = checkpoint_.state.step;
  if (ranks_.is_first()) checkpoint_.state.kept_weights = fingerprint_of(values);
}

void Trainer::write_kept(const nn::ParameterArray& values) {
  models::write_weights(directory_.path(), model_->table(), values, DType::kFloat32);
}

/// Older snapshots are removed after the next checkpoint.
void Trainer::take_snapshot() {
  auto& kept = checkpoint_.state.snapshots;
  if (ranks_.is_first()) snapshots_->write(checkpoint_.state.step, checkpoint_.values);
  kept.push_back(checkpoint_.state.step);
  if (static_cast<int>(kept.size()) > recipe_.snapshots) kept.erase(kept.begin());
}

/// The weights for validation and for the model directory: averaged as the recipe says.
const nn::ParameterArray& Trainer::weights_to_use() {
  if (recipe_.averaging == Averaging::kRunning) return checkpoint_.average;
  if (recipe_.averaging == Averaging::kLast && !checkpoint_.state.snapshots.empty()) {
    snapshot_average_ = snapshots_->mean(checkpoint_.state.snapshots);
    return snapshot_average_;
  }
  return checkpoint_.values;
}

/// The same, called by all ranks during training.
const nn::ParameterArray& Trainer::gathered_weights_to_use() {
  const nn::ParameterTable& table = model_->table();
  if (checkpoint_.average.defined()) all_gather_parameters(ranks_, table, checkpoint_.average);
  if (recipe_.averaging != Averaging::kLast || checkpoint_.state.snapshots.empty() || ranks_.size() == 1) {
    return weights_to_use();
  }
  if (ranks_.is_first()) {
    weights_to_use();
  } else if (!snapshot_average_.defined()) {
    snapshot_average_ = nn::ParameterArray::unset(table);
  }
  broadcast_parameters(ranks_, table, snapshot_average_);
  return snapshot_average_;
}

void Trainer::stop_for_bad_numbers(double loss, double norm) {
  const nn::ParameterTable& table = model_->table();
  nn::ParameterArray gradients = step_->gradients();
  all_gather_parameters(ranks_, table, gradients);
  std::string where = "none";
  for (int row = 0; row < table.size() && where == "none"; ++row) {
    const Tensor gradient = gradients.view(table, {row, 1});
    const auto count = static_cast<size_t>(gradient.size());
    if (first_not_finite(gradient.data<float>(), count) < count) where = table[row].name;
  }
  throw distributed::AgreedError(
      ErrorKind::kNumeric, fmt::format("training stopped at step {}: the loss is {} and the norm of the "
                                       "gradients {} (first parameter whose gradient is not finite: {}); "
                                       "the last checkpoint is kept. Try a lower schedule.learning_rate ({} "
                                       "now), a longer schedule.warmup_steps, or optimizer.clip_norm = 1",
                                       checkpoint_.state.step + 1, loss, norm, where, recipe_.learning_rate));
}

void Trainer::step() {
  TrainingState& state = checkpoint_.state;
  const BatchCursor begin = batches_->place();
  const int64_t n = state.step + 1;
  LossSums sums;
  try {
    std::vector<Batch> shards;
    for (int each = 0; each < recipe_.gradient_accumulation; ++each) {
      const auto more = batches_->next(static_cast<size_t>(recipe_.shard_count()));
      shards.insert(shards.end(), more.begin(), more.end());
    }
    const RandomKey key = RandomKey::from_seed(recipe_.seed).fold(1).fold(static_cast<uint64_t>(n));
    sums = step_->run(shards, checkpoint_.values, key);
  } catch (const Stopped&) {
    batches_ = text_->batches(begin);  // only the position in the text has changed
    throw;
  }
  const double norm = optimizer_->norm(pool_, step_->gradients());
  if (!std::isfinite(sums.loss) || !std::isfinite(norm)) stop_for_bad_numbers(sums.loss, norm);
  step_->statistics().move(checkpoint_.values);
  optimizer_->update(pool_, checkpoint_.values, step_->gradients(), norm, n, checkpoint_.average);
  all_gather_parameters(ranks_, model_->table(), checkpoint_.values);

  const double took = distributed::broadcast_value(ranks_, now() - last_step_end_);
  state.step = n;
  state.seconds += took;
  state.target_tokens += sums.tokens;
  Metrics metrics;
  metrics.step = n;
  metrics.loss = sums.loss / sums.weight;
  metrics.learning_rate = recipe_.make_schedule().at(n);
  metrics.gradient_norm = norm;
  metrics.target_tokens = state.target_tokens;
  metrics.target_tokens_per_second = static_cast<double>(sums.tokens) / took;
  metrics.seconds = state.seconds;
  metrics.epochs = batches_->epochs();
  metrics.step_tokens = sums.tokens;
  metrics.step_seconds = took;
  if (metrics.learning_rate == 0) warn_of_schedule_end();
  if (recipe_.averaging == Averaging::kLast && n % recipe_.snapshot_every == 0) take_snapshot();
  finish_step(metrics);
}

bool Trainer::is_last_step() const {
  return (options_.max_steps > 0 && checkpoint_.state.step >= options_.max_steps) ||
         (options_.max_minutes > 0 && seconds() >= 60 * options_.max_minutes) ||
         (options_.max_epochs > 0 && batches_->epochs() >= options_.max_epochs);
}

/// Validation, log and checkpoint after the update of a step. An interrupted validation is noted in the
/// checkpoint and repeated on resume. The clock of rank 0 is that of all.
void Trainer::finish_step(Metrics metrics) {
  TrainingState& state = checkpoint_.state;
  const bool due = state.unvalidated || state.step % recipe_.validate_every == 0 || is_last_step();
  const nn::ParameterArray* weights = nullptr;
  bool better = false;
  if (due) {
    state.unvalidated = metrics;
    weights = &gathered_weights_to_use();
    better = validate_now(*weights, metrics);
    state.unvalidated.reset();
  }
  metrics.best = better && objective_->has_validation();
  if (better) note_kept(*weights);
  if (log_) log_->append(metrics);
  if (options_.on_step) options_.on_step(metrics);
  const bool long_ago = now() - last_saved_ > 60 * options_.checkpoint_minutes;
  if (due || distributed::broadcast_value(ranks_, long_ago)) save();
  if (better && ranks_.is_first()) write_kept(*weights);
  last_step_end_ = now();
}

/// Whether the weights are the best so far.
bool Trainer::validate_now(const nn::ParameterArray& weights, Metrics& metrics) {
  if (!objective_->has_validation()) return true;
  const ValidationScores scores = objective_->validate(weights);
  metrics.valid_loss = scores.loss;
  metrics.scores = scores.others;
  TrainingState& state = checkpoint_.state;
  if (state.has_best && scores.quality <= state.best) {
    ++state.validations_since_best;
    return false;
  }
  state.best = scores.quality;
  state.has_best = true;
  state.validations_since_best = 0;
  return true;
}

void Trainer::warn_of_schedule_end() {
  if (std::exchange(schedule_end_said_, true)) return;
  say(fmt::format(
      "warning: the {} schedule ends at schedule.total_steps = {}, and the learning rate is 0 from there on: "
      "further steps change nothing. Set schedule.total_steps to the number of steps to train",
      schedule_name(recipe_.schedule), recipe_.total_steps));
}

/// Of all ranks: a signal to one of them stops all.
std::optional<TrainingEnd> Trainer::reached_end() const {
  const std::vector<int> stops = distributed::all_gather_values(ranks_, stop_.requested() ? 1 : 0);
  if (std::ranges::count(stops, 1) > 0) return TrainingEnd::kStopped;
  if (options_.max_steps > 0 && checkpoint_.state.step >= options_.max_steps) return TrainingEnd::kSteps;
  if (options_.max_minutes > 0 && seconds() >= 60 * options_.max_minutes) return TrainingEnd::kMinutes;
  if (options_.max_epochs > 0 && batches_->epochs() >= options_.max_epochs) return TrainingEnd::kEpochs;
  if (recipe_.patience > 0 && checkpoint_.state.validations_since_best >= recipe_.patience) {
    return TrainingEnd::kPatience;
  }
  return std::nullopt;
}

TrainingSummary Trainer::run() {
  distributed::together(ranks_, [&] {
    if (options_.max_steps <= 0 && !(options_.max_minutes > 0) && !(options_.max_epochs > 0) &&
        recipe_.patience == 0) {
      fail(ErrorKind::kUsage,
           "no stopping criterion: give --max-steps, --max-minutes, --max-epochs or validation.patience");
    }
  });
  TrainingSummary summary;
  try {
    prepare();
  } catch (const Stopped&) {
    summary.end = TrainingEnd::kStopped;
    return summary;
  }
  const std::string processes = ranks_.size() > 1 ? fmt::format("{} processes with ", ranks_.size()) : "";
  say(fmt::format("{} parameters, {}, {}{}", model_->table().elements(), text_->amount(), processes,
                  counted(pool_.threads(), "thread")));
  const int64_t total = recipe_.total_steps;
  if (recipe_.make_schedule().at(total + 1) == 0 && options_.max_steps > total) warn_of_schedule_end();
  summary.resumed_from = checkpoint_.state.step;
  if (options_.on_ready) options_.on_ready();
  last_saved_ = last_step_end_ = now();
  std::optional<TrainingEnd> end;
  try {
    if (checkpoint_.state.unvalidated) finish_step(*checkpoint_.state.unvalidated);
    while (!(end = reached_end())) step();
  } catch (const Stopped&) {
    end = TrainingEnd::kStopped;
  }
  if (checkpoint_.state.step > summary.resumed_from) save();
  if (*end != TrainingEnd::kStopped && ranks_.is_first()) {
    try {
      objective_->finish(directory_.path());
    } catch (const Stopped&) {
      end = TrainingEnd::kStopped;
    }
  }
  summary.end = distributed::broadcast_value(ranks_, *end);  // the other ranks wait here for finish()
  summary.steps = checkpoint_.state.step;
  summary.best_step = checkpoint_.state.kept_step;
  summary.seconds = seconds();
  return summary;
}

}  // namespace

TrainingSummary train(const TrainerOptions& options) {
  distributed::Communicator& ranks = options.ranks != nullptr ? *options.ranks : distributed::world();
  if (ranks.size() == 1) return Trainer(options, ranks).run();
  try {
    return Trainer(options, ranks).run();
  } catch (const distributed::AgreedError&) {
    throw;
  } catch (const Error& error) {
    ranks.give_up();
    const std::string where = distributed::describe_rank(ranks.rank(), distributed::host_name());
    fail(error.kind(), "{}: {}", where, error.what());
  } catch (...) {
    ranks.give_up();
    throw;
  }
}

}  // namespace heed::train
