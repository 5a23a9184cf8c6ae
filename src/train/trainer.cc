#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "io/safetensors.h"
#include "models/architecture.h"
#include "models/further_training.h"
#include "models/model_directory.h"
#include "train/checkpoint.h"
#include "train/optimizer.h"
#include "train/task.h"
#include "train/training_step.h"

namespace heed::train {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// One training, from its files to its limits.
class Trainer {
 public:
  explicit Trainer(const TrainerOptions& options)
      : options_(options),
        recipe_(options.recipe),
        folder_(options.output + "/training"),
        pool_(options.threads),
        kind_(task_kind(recipe_.task())) {}

  TrainingSummary run();

 private:
  void say(const std::string& message) const {
    if (options_.on_message) options_.on_message(message);
  }
  void settle_recipe();
  void take_tokenizer();
  void build_model();
  void begin_with_weights(const std::vector<std::string>& anew);
  void resume();
  void save();
  void step();
  void validate_now(Metrics& metrics);
  void keep_as_best(const nn::ParameterArray& values);
  void take_snapshot();
  nn::ParameterArray averaged_snapshots() const;
  const nn::ParameterArray& weights_to_use();
  [[noreturn]] void stop_for_bad_numbers(double loss, double norm);
  std::optional<TrainingEnd> reached_end() const;
  std::string snapshot_path(int64_t step) const {
    return fmt::format("{}/snapshot-{}.safetensors", folder_, step);
  }
  std::string checkpoint_path() const { return folder_ + "/checkpoint.safetensors"; }
  bool was_begun() const { return std::filesystem::exists(checkpoint_path()); }
  double seconds() const { return checkpoint_.state.seconds; }

  const TrainerOptions& options_;
  const Recipe recipe_;
  const std::string folder_;
  ThreadPool pool_;
  const TaskKind& kind_;
  std::unique_ptr<Task> task_;
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<TrainingStep> step_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<MetricsLog> log_;
  Checkpoint checkpoint_;  // moments stand in the optimizer while it runs
  nn::ParameterArray snapshot_average_;
  double last_saved_ = 0;
  double last_step_end_ = 0;
};

/// The recipe is saved with the training; another one for the same directory is refused. Where nothing has
/// been trained yet, because the first run failed, there is nothing to lose: it begins again.
void Trainer::settle_recipe() {
  const std::string path = folder_ + "/recipe.toml";
  if (!std::filesystem::exists(path)) {
    std::vector<std::string> names = kind_.tokenizer_files;
    names.insert(names.end(), {"config.json", "model.safetensors"});
    for (const std::string& name : names) {
      if (std::filesystem::exists(options_.output + "/" + name)) {
        fail(ErrorKind::kUsage, "'{}' holds a model that was not trained there; train into another directory",
             options_.output);
      }
    }
    make_directories(folder_);
    write_file(path, to_toml(recipe_));
    return;
  }
  const Recipe before = make_recipe("small", "", read_settings(read_file(path), path));
  const auto changed = differences(before, recipe_);
  if (changed.empty()) return;
  if (was_begun()) {
    fail(ErrorKind::kUsage,
         "the training in '{}' was begun with another recipe: {}; give the same settings to go on, or train "
         "into another directory",
         options_.output, fmt::join(changed, ", "));
  }
  std::vector<std::string> names = task_kind(before.task()).tokenizer_files;
  names.insert(names.end(), {"config.json", "generation_config.json", "model.safetensors",
                             "training/train.ids", "training/valid.ids"});
  for (const std::string& name : names) std::filesystem::remove(options_.output + "/" + name);
  write_file(path, to_toml(recipe_));
}

void Trainer::build_model() {
  models::ModelSettings settings = recipe_.model;
  task_->complete(settings);
  const models::Architecture& architecture = models::architecture_named(recipe_.arch);
  const bool further = !recipe_.from.empty(), begun = was_begun();
  std::vector<std::string> anew;
  if (further) {
    auto read = models::read_for_training(begun ? options_.output : recipe_.from, architecture, settings);
    model_ = std::move(read.model);
    anew = std::move(read.anew);
  } else {
    model_ = architecture.make(settings);
  }
  task_->use(*model_);
  write_json(options_.output + "/config.json", model_->config_json());
  task_->write_files(options_.output);
  step_ = std::make_unique<TrainingStep>(*task_, model_->table(), pool_, recipe_.precision);
  optimizer_ = std::make_unique<Optimizer>(model_->table(), recipe_);
  const nn::ParameterTable& table = model_->table();
  checkpoint_.values = nn::ParameterArray(table, DType::kFloat32);
  nn::initialise(table, checkpoint_.values, RandomKey::from_seed(recipe_.seed));
  if (further && !begun) begin_with_weights(anew);
  if (recipe_.averaging == Averaging::kRunning) {
    checkpoint_.average = nn::ParameterArray(table, DType::kFloat32);
    checkpoint_.average.flat() = checkpoint_.values.flat().clone();
  }
}

/// The tokenizer of the model that is trained further, before the task looks for one.
void Trainer::take_tokenizer() {
  for (const std::string& name : kind_.tokenizer_files) {
    const std::string path = recipe_.from + "/" + name;
    if (std::filesystem::exists(path)) write_file(options_.output + "/" + name, read_file(path));
  }
}

void Trainer::begin_with_weights(const std::vector<std::string>& anew) {
  const auto fresh = models::read_weights_over(recipe_.from, model_->table(), anew, checkpoint_.values);
  say(fmt::format("going on from the weights of '{}'", recipe_.from));
  if (!fresh.empty()) say(fmt::format("begun anew: {}", fmt::join(fresh, ", ")));
}

void Trainer::resume() {
  auto found = read_checkpoint(checkpoint_path(), model_->table());
  if (found) {
    optimizer_->first_moment() = std::exchange(found->first_moment, {});
    optimizer_->second_moment() = std::exchange(found->second_moment, {});
    checkpoint_ = std::move(*found);
    say(fmt::format("going on from step {}", checkpoint_.state.step));
  } else if (!std::filesystem::exists(options_.output + "/model.safetensors")) {
    keep_as_best(checkpoint_.values);  // so that the directory is a model at any moment
  }
  task_->begin(checkpoint_.state.cursor);
  log_.emplace(folder_ + "/metrics.jsonl", checkpoint_.state.step);
}

void Trainer::save() {
  Checkpoint whole = checkpoint_;
  whole.first_moment = optimizer_->first_moment();
  whole.second_moment = optimizer_->second_moment();
  whole.state.cursor = task_->place();
  write_checkpoint(checkpoint_path(), model_->table(), whole);
  last_saved_ = now();
}

void Trainer::keep_as_best(const nn::ParameterArray& values) {
  models::write_weights(options_.output, model_->table(), values, DType::kFloat32);
}

void Trainer::take_snapshot() {
  auto& kept = checkpoint_.state.snapshots;
  const int64_t step = checkpoint_.state.step;
  write_safetensors(snapshot_path(step), {{"values", checkpoint_.values.flat()}});
  kept.push_back(step);
  while (static_cast<int>(kept.size()) > recipe_.snapshots) {
    std::filesystem::remove(snapshot_path(kept.front()));
    kept.erase(kept.begin());
  }
}

nn::ParameterArray Trainer::averaged_snapshots() const {
  nn::ParameterArray mean(model_->table(), DType::kFloat32);
  nn::ParameterArray one(model_->table(), DType::kFloat32);
  const auto& kept = checkpoint_.state.snapshots;
  for (const int64_t step : kept) {
    SafetensorsReader::open(snapshot_path(step))
        .read_into("values", one.flat().data<float>(), one.flat().shape());
    add_scaled({.size = mean.flat().size(),
                .factor = 1.0f / static_cast<float>(kept.size()),
                .x = one.flat().data<float>(),
                .y = mean.flat().data<float>()});
  }
  return mean;
}

/// The weights that are validated and given out: an average of those of the training.
const nn::ParameterArray& Trainer::weights_to_use() {
  if (recipe_.averaging == Averaging::kRunning) return checkpoint_.average;
  if (recipe_.averaging == Averaging::kLast && !checkpoint_.state.snapshots.empty()) {
    snapshot_average_ = averaged_snapshots();
    return snapshot_average_;
  }
  return checkpoint_.values;
}

void Trainer::stop_for_bad_numbers(double loss, double norm) {
  const nn::ParameterTable& table = model_->table();
  std::string where = "none";
  for (int row = 0; row < table.size() && where == "none"; ++row) {
    const Tensor gradient = step_->gradients().view(table, {row, 1});
    const float* g = gradient.data<float>();
    if (!std::all_of(g, g + gradient.size(), [](float x) { return std::isfinite(x); }))
      where = table[row].name;
  }
  fail(ErrorKind::kNumeric,
       "training stopped at step {}: the loss is {} and the norm of the gradients {} (first parameter whose "
       "gradient is "
       "not finite: {}); the last checkpoint is kept. Try a lower schedule.rate ({} now), a longer "
       "schedule.warmup, or "
       "optimizer.clip = 1",
       checkpoint_.state.step + 1, loss, norm, where, recipe_.rate);
}

void Trainer::step() {
  TrainingState& state = checkpoint_.state;
  std::vector<Batch> parts;
  for (int n = 0; n < recipe_.accumulate; ++n) {
    const auto more = task_->next_batch(static_cast<size_t>(recipe_.shard_count()));
    parts.insert(parts.end(), more.begin(), more.end());
  }
  const int64_t n = state.step + 1;
  const RandomKey key = RandomKey::from_seed(recipe_.seed).fold(1).fold(static_cast<uint64_t>(n));
  const LossSums sums = step_->run(parts, checkpoint_.values, key);
  const double norm = optimizer_->norm(pool_, step_->gradients());
  if (!std::isfinite(sums.loss) || !std::isfinite(norm)) stop_for_bad_numbers(sums.loss, norm);
  step_->move_statistics(checkpoint_.values);
  optimizer_->update(pool_, checkpoint_.values, step_->gradients(), norm, n, checkpoint_.average);

  const double end = now(), took = end - last_step_end_;
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
  if (recipe_.averaging == Averaging::kLast && n % recipe_.snapshot_every == 0) take_snapshot();
  const bool last = (options_.max_steps > 0 && n >= options_.max_steps) ||
                    (options_.max_minutes > 0 && seconds() >= 60 * options_.max_minutes);
  const bool due = n % recipe_.validate_every == 0 || last;
  if (due) validate_now(metrics);
  log_->append(metrics);
  if (options_.on_step) options_.on_step(metrics);
  if (due || now() - last_saved_ > 60 * options_.checkpoint_minutes) save();
  last_step_end_ = now();
}

void Trainer::validate_now(Metrics& metrics) {
  const nn::ParameterArray& values = weights_to_use();
  if (!task_->has_validation()) {
    keep_as_best(values);
    return;
  }
  const ValidationScores scores = task_->validate(values, *step_, pool_);
  metrics.valid_loss = scores.loss;
  metrics.scores = scores.others;
  TrainingState& state = checkpoint_.state;
  if (state.has_best && scores.quality <= state.best) {
    ++state.validations_since_best;
    return;
  }
  state.best = scores.quality;
  state.has_best = true;
  state.validations_since_best = 0;
  keep_as_best(values);
}

std::optional<TrainingEnd> Trainer::reached_end() const {
  if (options_.stop != nullptr && options_.stop->load()) return TrainingEnd::kStopped;
  if (options_.max_steps > 0 && checkpoint_.state.step >= options_.max_steps) return TrainingEnd::kSteps;
  if (options_.max_minutes > 0 && seconds() >= 60 * options_.max_minutes) return TrainingEnd::kMinutes;
  if (recipe_.patience > 0 && checkpoint_.state.validations_since_best >= recipe_.patience) {
    return TrainingEnd::kPatience;
  }
  return std::nullopt;
}

TrainingSummary Trainer::run() {
  if (options_.max_steps <= 0 && options_.max_minutes <= 0 && recipe_.patience == 0) {
    fail(ErrorKind::kUsage, "a training needs an end: --max-steps, --max-minutes, or validation.patience");
  }
  kind_.check(options_);
  settle_recipe();
  if (!recipe_.from.empty() && !was_begun()) take_tokenizer();
  task_ = kind_.make({options_, pool_, [this](const std::string& text) { say(text); }});
  build_model();
  resume();
  say(fmt::format("{} parameters, {}, {} threads", model_->table().elements(), task_->amount(),
                  pool_.threads()));
  TrainingSummary summary;
  summary.resumed_from = checkpoint_.state.step;
  last_saved_ = last_step_end_ = now();
  std::optional<TrainingEnd> end;
  while (!(end = reached_end())) step();
  if (checkpoint_.state.step > summary.resumed_from) save();
  summary.end = *end;
  summary.steps = checkpoint_.state.step;
  summary.seconds = seconds();
  return summary;
}

}  // namespace

TrainingSummary train(const TrainerOptions& options) {
  return Trainer(options).run();
}

}  // namespace heed::train
