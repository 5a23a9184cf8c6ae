#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/stop.h"
#include "base/text/json_file.h"
#include "base/text/option_error.h"
#include "distributed/agreement.h"
#include "distributed/collectives.h"
#include "distributed/launch.h"
#include "models/model_weights.h"
#include "tensor/finite.h"
#include "train/checkpoint.h"
#include "train/optimizer.h"
#include "train/output_directory.h"
#include "train/rank_checks.h"
#include "train/schedule_fit.h"
#include "train/shared_state.h"
#include "train/task.h"
#include "train/trained_model.h"
#include "train/training_end.h"
#include "train/training_step.h"
#include "train/training_store.h"

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
    if (options_.on_message) options_.on_message(with_option_names(message, options_.option_names));
  }
  void prepare();
  void join();
  void build_model();
  void begin_with_weights(const std::vector<std::string>& new_prefixes);
  void begin_or_resume();
  void require_the_same_text() const;
  void save();
  void step();
  void finish_step(Metrics metrics);
  bool validate_now(const nn::ParameterArray& weights, Metrics& metrics);
  bool fit_plan();
  void apply_plan();
  void warn_of_fitted_end() const;
  void warn_of_schedule_end();
  [[noreturn]] void stop_for_bad_numbers(double loss, double norm);
  void compare_processors();
  std::optional<TrainingEnd> reached_limit() const;
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
  Checkpoint checkpoint_;
  TrainingPlan plan_;
  std::optional<TrainingStore> store_;
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
    if (ranks_.is_first()) require_valid_model(recipe_, directory_, *checked_);
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
  models::FineTunedModel made = make_model(recipe_, directory_, settings);
  model_ = std::move(made.model);
  objective_ = text_->objective(*model_);
  const nn::ParameterTable& table = model_->table();
  step_ = std::make_unique<TrainingStep>(*objective_, table, pool_,
                                         TrainingStepOptions{recipe_.precision, stop_, &ranks_});
  optimizer_ = std::make_unique<Optimizer>(table, recipe_, ranks_);
  checkpoint_.values = nn::ParameterArray(table, DType::kFloat32);
  if (ranks_.is_first()) {
    checkpoint_.first_moment = nn::ParameterArray(table, DType::kFloat32);
    checkpoint_.second_moment = nn::ParameterArray(table, DType::kFloat32);
  }
  nn::initialize(table, checkpoint_.values, RandomKey::from_seed(recipe_.seed));
  if (further && !begun) begin_with_weights(made.new_prefixes);
  if (recipe_.averaging == Averaging::kRunning) {
    checkpoint_.average = nn::ParameterArray(table, DType::kFloat32);
    checkpoint_.average.flat() = checkpoint_.values.flat().clone();
  }
  store_.emplace(TrainingStore::Parts{directory_, recipe_, table, ranks_, *optimizer_, checkpoint_},
                 [this](const std::string& text) { say(text); });
}

void Trainer::begin_with_weights(const std::vector<std::string>& new_prefixes) {
  const auto fresh =
      models::read_weights_over(recipe_.from, model_->table(), new_prefixes, checkpoint_.values);
  say(fmt::format("fine-tuning from the weights of '{}'", recipe_.from));
  if (!fresh.empty()) say(fmt::format("initialized at random: {}", fmt::join(fresh, ", ")));
}

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
    store_->resume(batches_->place());
  } else {
    checkpoint_.state.text = text_->fingerprint();
    store_->begin(batches_->place());
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

void Trainer::save() {
  store_->save(batches_->place());
  last_saved_ = now();
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
      ErrorKind::kNumeric,
      fmt::format("training stopped at step {}: the loss is {} and the norm of the gradients {} (first "
                  "parameter whose gradient is not finite: {}); the last checkpoint is kept. Try a lower "
                  "schedule.learning_rate ({} now), a longer schedule.warmup_steps, or "
                  "optimizer.clip_norm = 1",
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
  metrics.learning_rate = plan_.schedule.at(n);
  metrics.gradient_norm = norm;
  metrics.target_tokens = state.target_tokens;
  metrics.target_tokens_per_second = static_cast<double>(sums.tokens) / took;
  metrics.seconds = state.seconds;
  metrics.epochs = batches_->epochs();
  metrics.step_tokens = sums.tokens;
  metrics.step_seconds = took;
  if (metrics.learning_rate == 0) warn_of_schedule_end();
  if (recipe_.averaging == Averaging::kLast && n % recipe_.snapshot_every == 0) store_->take_snapshot();
  finish_step(metrics);
}

/// Whether a limit of this training is reached, and which.
std::optional<TrainingEnd> Trainer::reached_limit() const {
  if (options_.max_steps > 0 && checkpoint_.state.step >= options_.max_steps) return TrainingEnd::kSteps;
  if (options_.max_minutes > 0 && seconds() >= 60 * options_.max_minutes) return TrainingEnd::kMinutes;
  if (options_.max_epochs > 0 && batches_->epochs() >= options_.max_epochs) return TrainingEnd::kEpochs;
  return std::nullopt;
}

/// Decides once how many steps the schedule is fitted to, from the clock of rank 0 and what all ranks know.
/// Whether it was now.
bool Trainer::fit_plan() {
  TrainingState& state = checkpoint_.state;
  if (state.fitted_steps != kNotYetFitted) return false;
  double fraction = 0;
  if (options_.max_minutes > 0) fraction = seconds() / (60 * options_.max_minutes);
  if (options_.max_epochs > 0) fraction = std::max(fraction, batches_->epochs() / options_.max_epochs);
  const bool measured = options_.max_minutes > 0 || options_.max_epochs > 0;
  state.fitted_steps = fitted_steps({state.step, fraction}, options_.max_steps, measured);
  if (state.fitted_steps == kNotYetFitted) return false;
  apply_plan();
  for (const std::string& text :
       {describe_fit(recipe_, plan_, state.fitted_steps), warning_of_length(recipe_, state.fitted_steps)}) {
    if (!text.empty()) say(text);
  }
  return true;
}

void Trainer::apply_plan() {
  plan_ = make_plan(recipe_, checkpoint_.state.fitted_steps);
  optimizer_->set_schedule(plan_.schedule);
}

/// For a finished training that is continued.
void Trainer::warn_of_fitted_end() const {
  const TrainingState& state = checkpoint_.state;
  if (!plan_.decays || state.step < state.fitted_steps || reached_limit()) return;
  say(option_text(
      "warning: the schedule was fitted to {} steps when this training began; the learning rate stays at "
      "{:.2g} from there on. To train with a schedule for the new limit, give another $output (to keep "
      "what was learnt, with '{}' as $from)",
      state.fitted_steps, plan_.schedule.at(state.step + 1), directory_.path()));
}

/// Validation, log and checkpoint after the update of a step. An interrupted validation is noted in the
/// checkpoint and repeated on resume. The clock of rank 0 is that of all.
void Trainer::finish_step(Metrics metrics) {
  TrainingState& state = checkpoint_.state;
  const bool fitted = fit_plan();
  const bool due = state.unvalidated || state.step % plan_.validate_every == 0 || reached_limit().has_value();
  const nn::ParameterArray* weights = nullptr;
  bool better = false;
  if (due) {
    state.unvalidated = metrics;
    weights = &store_->averaged_weights();
    better = validate_now(*weights, metrics);
    state.unvalidated.reset();
  }
  metrics.best = better && objective_->has_validation();
  if (better) store_->note_best(*weights);
  if (log_) log_->append(metrics);
  if (options_.on_step) options_.on_step(metrics);
  const bool long_ago = now() - last_saved_ > 60 * options_.checkpoint_minutes;
  if (due || fitted || distributed::broadcast_value(ranks_, long_ago)) save();
  if (better) store_->write_best(*weights);
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
      schedule_name(plan_.schedule.kind), plan_.schedule.total));
}

/// Called by all ranks: a signal to one of them stops all.
std::optional<TrainingEnd> Trainer::reached_end() const {
  const std::vector<int> stops = distributed::all_gather_values(ranks_, stop_.requested() ? 1 : 0);
  if (std::ranges::count(stops, 1) > 0) return TrainingEnd::kStopped;
  if (const auto limit = reached_limit()) return limit;
  if (recipe_.patience > 0 && checkpoint_.state.validations_since_best >= recipe_.patience) {
    return TrainingEnd::kPatience;
  }
  return std::nullopt;
}

TrainingSummary Trainer::run() {
  distributed::together(ranks_, [&] {
    if (options_.max_steps <= 0 && !(options_.max_minutes > 0) && !(options_.max_epochs > 0) &&
        recipe_.patience == 0) {
      fail_option("no stopping criterion: give $max_steps, $max_minutes, $max_epochs or validation.patience");
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
  apply_plan();
  fit_plan();
  warn_of_fitted_end();
  const int64_t total = plan_.schedule.total;
  if (plan_.schedule.at(total + 1) == 0 && options_.max_steps > total) warn_of_schedule_end();
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
  if (summary.end != TrainingEnd::kStopped && summary.steps == summary.resumed_from && summary.steps > 0) {
    say(describe_finished(summary.end, summary, options_));
  }
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
