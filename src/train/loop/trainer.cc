#include "train/loop/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/stop.h"
#include "base/text/option_error.h"
#include "distributed/launch.h"
#include "tensor/finite.h"
#include "train/loop/batch_fit.h"
#include "train/loop/schedule_fit.h"
#include "train/loop/training.h"
#include "train/loop/training_end.h"
#include "train/reduce/rank_reducer.h"
#include "train/store/output_directory.h"

namespace heed::train {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The name of the first parameter with a gradient that is not finite.
std::string first_not_finite_in(const nn::ParameterTable& table, const nn::ParameterArray& gradients) {
  for (int row = 0; row < table.size(); ++row) {
    const Tensor gradient = gradients.view(table, {row, 1});
    const auto count = static_cast<size_t>(gradient.size());
    if (first_not_finite(gradient.data<float>(), count) < count) return table[row].name;
  }
  return "none";
}

/// The steps of a training, in this process. All processes do the same; the first one writes and reports.
class Trainer {
 public:
  explicit Trainer(Training& training)
      : training_(training),
        options_(training.options),
        recipe_(training.recipe),
        reducer_(training.reducer),
        checkpoint_(training.checkpoint) {}

  TrainingSummary run();

 private:
  void say(const std::string& message) const { training_.say(message); }
  void save(const nn::ParameterArray* best = nullptr);
  TrainingEnd run_steps();
  void train_step();
  std::vector<Batch> next_shards();
  void require_finite(const LossSums& sums, double norm) const;
  Metrics count_step(const LossSums& sums, double norm);
  void finish_step(Metrics metrics);
  bool validate_now(const nn::ParameterArray& weights, Metrics& metrics);
  void finish_model();
  bool fit_plan();
  void apply_plan();
  void warn_of_fitted_end() const;
  void warn_of_schedule_end(int64_t step);
  std::optional<TrainingEnd> reached_limit() const;
  std::optional<TrainingEnd> reached_end() const;
  bool has_other_limit() const { return options_.max_minutes > 0 || options_.max_epochs > 0; }
  double seconds() const { return checkpoint_.state.seconds; }

  Training& training_;
  const TrainerOptions& options_;
  const Recipe& recipe_;
  Reducer& reducer_;
  Checkpoint& checkpoint_;
  TrainingPlan plan_;
  bool schedule_end_said_ = false;
  double last_saved_ = 0;
  double last_step_end_ = 0;
};

/// One update of the weights.
void Trainer::train_step() {
  const Task& task = training_.task;
  GradientReduction& reduction = *training_.reduction;
  Optimizer& optimizer = *training_.optimizer;
  const nn::ParameterTable& table = training_.table();
  nn::ParameterArray& weights = checkpoint_.values;
  const int64_t n = checkpoint_.state.step + 1;
  const RandomKey key = RandomKey::from_seed(recipe_.seed).fold(1).fold(static_cast<uint64_t>(n));

  // Batch
  const BatchCursor begin = training_.batches->cursor();
  const std::vector<Batch> shards = next_shards();
  double batch_weight = 0;
  for (const Batch& shard : shards) batch_weight += task.weight(shard);

  // Loss and backward pass of each shard; gradients are added up as they become final.
  LossSums sums;
  try {
    sums = reduction.run(shards, weights, key, [&](ShardPass& shard) {
      const BatchLoss loss = task.loss(shard.context(), shard.batch(), 1 / batch_weight);
      shard.backward(loss.loss);
      return loss.sums;
    });
  } catch (const Cancelled&) {
    training_.batches = training_.batches_at(begin);  // only the position in the text has changed
    throw;
  }

  // Clip
  const double norm = optimizer.norm(training_.pool, reduction.gradients());
  require_finite(sums, norm);
  const double scale = optimizer.clip(norm);

  // Update
  reduction.statistics().move(weights);
  optimizer.update(training_.pool, {n, weights, reduction.gradients(), scale, checkpoint_.average});
  reducer_.gather(table, weights);

  // Log, validation, checkpoint
  const Metrics metrics = count_step(sums, norm);
  if (!reached_limit()) warn_of_schedule_end(n);
  if (recipe_.averaging == Averaging::kLast && n % recipe_.snapshot_every == 0) {
    training_.store->take_snapshot();
  }
  finish_step(metrics);
}

/// Those of all batches of an update.
std::vector<Batch> Trainer::next_shards() {
  std::vector<Batch> shards;
  for (int each = 0; each < recipe_.gradient_accumulation; ++each) {
    const auto more = training_.batches->next(static_cast<size_t>(recipe_.shard_count()));
    shards.insert(shards.end(), more.begin(), more.end());
  }
  return shards;
}

void Trainer::require_finite(const LossSums& sums, double norm) const {
  if (std::isfinite(sums.loss) && std::isfinite(norm)) return;
  nn::ParameterArray gradients = training_.reduction->gradients();
  reducer_.gather(training_.table(), gradients);
  reducer_.together([&] {
    fail(
        ErrorKind::kNumeric,
        "training stopped at step {}: the loss is {} and the norm of the gradients {} (first parameter whose "
        "gradient is not finite: {}); the last checkpoint is kept. Try a lower schedule.learning_rate ({} "
        "now), a longer schedule.warmup_steps, or optimizer.clip_norm = 1",
        checkpoint_.state.step + 1, sums.loss, norm, first_not_finite_in(training_.table(), gradients),
        recipe_.learning_rate);
  });
}

/// Counts the step, whose update is done.
Metrics Trainer::count_step(const LossSums& sums, double norm) {
  TrainingState& state = checkpoint_.state;
  const double took = reducer_.of_first(now() - last_step_end_);
  ++state.step;
  state.seconds += took;
  state.target_tokens += sums.tokens;
  Metrics metrics;
  metrics.step = state.step;
  metrics.loss = sums.loss / sums.weight;
  metrics.learning_rate = plan_.schedule.at(state.step);
  metrics.gradient_norm = norm;
  metrics.target_tokens = state.target_tokens;
  metrics.target_tokens_per_second = static_cast<double>(sums.tokens) / took;
  metrics.seconds = state.seconds;
  metrics.epochs = training_.batches->epochs();
  metrics.step_tokens = sums.tokens;
  metrics.step_seconds = took;
  return metrics;
}

/// Validation, log and checkpoint after the update of a step. An interrupted validation is noted in the
/// checkpoint and repeated on resume. The clock of the first process is that of all.
void Trainer::finish_step(Metrics metrics) {
  TrainingState& state = checkpoint_.state;
  const bool fitted = fit_plan();
  const bool due = state.unvalidated || state.step % plan_.validate_every == 0 || reached_limit().has_value();
  const nn::ParameterArray* weights = nullptr;
  bool better = false;
  if (due) {
    state.unvalidated = metrics;
    weights = &training_.store->averaged_weights();
    better = validate_now(*weights, metrics);
    state.unvalidated.reset();
  }
  metrics.best = better && training_.task.validate;
  if (training_.log) training_.log->append(metrics);
  if (options_.on_step) options_.on_step(metrics);
  const auto long_ago = [&] {
    return reducer_.of_first(now() - last_saved_) > 60 * options_.checkpoint_minutes;
  };
  if (due || fitted || long_ago()) save(better ? weights : nullptr);
  last_step_end_ = now();
}

/// Whether these scores are better than the best so far. Of equal scores, such as 0 BLEU at the beginning,
/// the one with the lower loss is.
bool is_better(const ValidationScores& scores, const TrainingState& state) {
  if (!std::isfinite(scores.quality)) return false;
  if (!state.has_best || scores.quality > state.best) return true;
  return scores.quality == state.best && state.best_loss && scores.loss < *state.best_loss;
}

/// Whether the weights are the best so far.
bool Trainer::validate_now(const nn::ParameterArray& weights, Metrics& metrics) {
  if (!training_.task.validate) return true;
  const ValidationScores scores = training_.task.validate(weights);
  metrics.valid_loss = scores.loss;
  metrics.scores = scores.others;
  TrainingState& state = checkpoint_.state;
  if (!is_better(scores, state)) {
    ++state.validations_since_best;
    return false;
  }
  state.best = scores.quality;
  state.has_best = true;
  state.best_loss.reset();
  if (std::isfinite(scores.loss)) state.best_loss = scores.loss;
  state.validations_since_best = 0;
  return true;
}

/// The state, and the weights of the model directory, if there are better ones.
void Trainer::save(const nn::ParameterArray* best) {
  if (best != nullptr) training_.store->note_best(*best);
  training_.store->save(training_.batches->cursor());
  if (best != nullptr) training_.store->write_best(*best);
  last_saved_ = now();
}

/// Whether a limit of this training is reached, and which.
std::optional<TrainingEnd> Trainer::reached_limit() const {
  if (options_.max_steps > 0 && checkpoint_.state.step >= options_.max_steps) return TrainingEnd::kSteps;
  if (options_.max_minutes > 0 && seconds() >= 60 * options_.max_minutes) return TrainingEnd::kMinutes;
  if (options_.max_epochs > 0 && training_.batches->epochs() >= options_.max_epochs)
    return TrainingEnd::kEpochs;
  return std::nullopt;
}

/// Decides once how many steps the schedule is fitted to, from the clock of the first process and what all
/// know. Whether it was now.
bool Trainer::fit_plan() {
  TrainingState& state = checkpoint_.state;
  if (state.fitted_steps != kNotYetFitted) return false;
  double fraction = 0;
  if (options_.max_minutes > 0) fraction = seconds() / (60 * options_.max_minutes);
  if (options_.max_epochs > 0)
    fraction = std::max(fraction, training_.batches->epochs() / options_.max_epochs);
  state.fitted_steps = fitted_steps({state.step, fraction}, options_.max_steps, has_other_limit());
  if (state.fitted_steps == kNotYetFitted) return false;
  apply_plan();
  const bool limited_in_steps = state.fitted_steps == options_.max_steps;
  const std::optional<int64_t> batch_tokens =
      limited_in_steps ? std::nullopt : std::optional(training_.batch_tokens());
  for (const std::string& text : {describe_fit(recipe_, plan_, state.fitted_steps),
                                  warning_of_length(recipe_, batch_tokens, state.fitted_steps)}) {
    if (!text.empty()) say(text);
  }
  return true;
}

/// A limit in steps alone says how long the training is, also of one that is continued.
void Trainer::apply_plan() {
  plan_ = make_plan(recipe_, checkpoint_.state.fitted_steps, has_other_limit() ? 0 : options_.max_steps);
  training_.optimizer->set_schedule(plan_.schedule);
}

/// For a finished training that is continued.
void Trainer::warn_of_fitted_end() const {
  const TrainingState& state = checkpoint_.state;
  if (!plan_.decays || state.step < state.fitted_steps || reached_limit()) return;
  say(option_text(
      "warning: the schedule was fitted to {} steps when this training began; the learning rate stays at "
      "{:.2g} from there on. To train with a schedule for the new limit, give another $output (to keep "
      "what was learnt, with '{}' as $from)",
      state.fitted_steps, plan_.schedule.at(state.step + 1), training_.directory.path()));
}

/// If it has ended at this step.
void Trainer::warn_of_schedule_end(int64_t step) {
  const Schedule& schedule = plan_.schedule;
  if (!has_end(schedule.kind) || step < schedule.total || schedule.at(step) > 0) return;
  if (std::exchange(schedule_end_said_, true)) return;
  say(fmt::format(
      "warning: the {} schedule ends at schedule.total_steps = {}, and the learning rate is 0 from there on: "
      "further steps change nothing. Set schedule.total_steps to the number of steps to train",
      schedule_name(schedule.kind), schedule.total));
}

/// A signal to one process stops all.
std::optional<TrainingEnd> Trainer::reached_end() const {
  if (reducer_.any(training_.stop.requested())) return TrainingEnd::kStopped;
  if (const auto limit = reached_limit()) return limit;
  if (recipe_.patience > 0 && checkpoint_.state.validations_since_best >= recipe_.patience) {
    return TrainingEnd::kPatience;
  }
  return std::nullopt;
}

TrainingEnd Trainer::run_steps() {
  const TrainingState& state = checkpoint_.state;
  const int64_t first = state.step;
  std::optional<TrainingEnd> end;
  try {
    fit_batches(training_);
    last_saved_ = last_step_end_ = now();
    if (state.unvalidated) finish_step(*state.unvalidated);
    while (!(end = reached_end())) train_step();
  } catch (const Cancelled&) {
    end = TrainingEnd::kStopped;
  }
  if (state.step > first) {
    const bool newest_is_best = !training_.task.validate && state.kept_step < state.step;
    save(newest_is_best ? &training_.store->averaged_weights() : nullptr);
  }
  return *end;
}

/// Once: what it chose may have been changed by the user since.
void Trainer::finish_model() {
  TrainingState& state = checkpoint_.state;
  if (!training_.task.finish || state.finished_step == state.step) return;
  reducer_.on_first([&] { training_.task.finish(training_.directory.path()); });
  state.finished_step = state.step;
  save();
}

TrainingSummary Trainer::run() {
  const int processes = reducer_.processes();
  say(fmt::format("{} parameters, {}, {}{}", training_.table().elements(), training_.task.amount,
                  processes > 1 ? fmt::format("{} processes with ", processes) : "",
                  counted(training_.pool.threads(), "thread")));
  apply_plan();
  fit_plan();
  warn_of_fitted_end();
  if (options_.max_steps > plan_.schedule.total) warn_of_schedule_end(plan_.schedule.total + 1);
  TrainingSummary summary;
  summary.resumed_from = checkpoint_.state.step;
  if (options_.on_ready) options_.on_ready();
  summary.end = run_steps();
  try {
    if (summary.end != TrainingEnd::kStopped) finish_model();
  } catch (const Cancelled&) {
    summary.end = TrainingEnd::kStopped;
  }
  summary.steps = checkpoint_.state.step;
  summary.best_step = checkpoint_.state.kept_step;
  summary.seconds = seconds();
  if (summary.end != TrainingEnd::kStopped && summary.steps == summary.resumed_from && summary.steps > 0) {
    say(describe_finished(summary.end, summary, options_));
  }
  return summary;
}

/// One that had another limit and began with an earlier version, where patience without validation data was
/// no error, goes on.
void require_validation_for_patience(const TrainerOptions& options, bool has_other_limit) {
  if (options.validation.is_named()) return;
  if (has_other_limit && OutputDirectory(options.output).was_begun()) return;
  const bool pairs = options.recipe.task() == models::Task::kTranslation;
  const std::string data =
      pairs ? option_text("$valid_pairs, or $valid_source and $valid_target") : option_text("$valid_text");
  fail_option("validation.patience ({}) needs validation data: give {}, or leave validation.patience out{}",
              options.recipe.patience, data,
              has_other_limit ? "" : option_text(" and give $max_steps, $max_minutes or $max_epochs"));
}

void require_a_limit(const TrainerOptions& options) {
  const bool limited = options.max_steps > 0 || options.max_minutes > 0 || options.max_epochs > 0;
  if (options.recipe.patience > 0) {
    require_validation_for_patience(options, limited);
  } else if (!limited) {
    fail_option(
        "no stopping criterion: give $max_steps, $max_minutes or $max_epochs, or validation.patience with "
        "validation data");
  }
}

TrainingSummary train_with(const TrainerOptions& options, Reducer& reducer) {
  reducer.together([&] { require_a_limit(options); });
  std::optional<Training> training;
  try {
    training.emplace(options, reducer);
  } catch (const Cancelled&) {
    return {.end = TrainingEnd::kStopped};
  }
  return Trainer(*training).run();
}

}  // namespace

TrainingSummary train(const TrainerOptions& options) {
  const std::unique_ptr<Reducer> reducer =
      make_reducer(options.ranks != nullptr ? *options.ranks : distributed::world());
  TrainingSummary summary;
  reducer->run([&] { summary = train_with(options, *reducer); });
  return summary;
}

}  // namespace heed::train
