#include "train/loop/training.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/text/json_file.h"
#include "models/directory/model_directory.h"
#include "models/directory/model_weights.h"
#include "train/store/trained_model.h"

namespace heed::train {
namespace {

/// Sets the stop flag of all readers, and leaves reports to the first process.
TrainerOptions options_of_process(TrainerOptions options, const Reducer& reducer) {
  if (!reducer.is_first()) {
    options.on_step = nullptr;
    options.on_message = options.on_work = nullptr;
    options.on_progress = nullptr;
  }
  for (TrainingText* text : {&options.data, &options.validation}) {
    text->lines.stop = text->pairs.lines.stop = Stop(options.stop);
  }
  return options;
}

}  // namespace

Training::Training(const TrainerOptions& o, Reducer& r)
    : options(options_of_process(o, r)),
      reducer(r),
      stop(options.stop),
      recipe(options.recipe),
      directory(options.output),
      pool(options.threads) {
  reducer.check_setup(options);
  const CheckedText text = read_text(task_kind(recipe.task()));
  reducer.on_first([&] {
    make_task(text);
    begin_or_resume();
  });
  reducer.on_others([&] {
    reducer.wait_for_file(directory.checkpoint());
    make_task(text);
  });
  store->share();
  if (!batches) batches = batches_at(checkpoint.state.cursor);
  compare_processors();
}

/// A training that has begun may have more shards, as earlier versions allowed.
void Training::require_shards_with_tokens() const {
  if (recipe.shards <= recipe.batch_tokens) return;
  fail(ErrorKind::kUsage,
       "training.shards ({}) must not be above training.batch_tokens ({}): a batch is split into shards, and "
       "each needs a token; lower training.shards, or raise training.batch_tokens",
       recipe.shards, recipe.batch_tokens);
}

/// The first process opens the directory, if all is well; nothing is written before.
CheckedText Training::read_text(const TaskKind& kind) {
  bool begun = true;  // as the other processes find it
  reducer.together([&] {
    kind.check(options);
    if (!reducer.is_first()) return;
    directory.check(recipe);
    begun = directory.was_begun();
    if (!begun) require_shards_with_tokens();
  });
  if (options.on_work) options.on_work("reading the text");
  CheckedText text;
  reducer.together([&] {
    text = kind.read({options, pool, reducer, [this](const std::string& message) { say(message); }, begun,
                      stop, options.on_work, options.on_progress});
    if (reducer.is_first()) require_valid_model(recipe, directory, text);
  });
  reducer.check_text(text.fingerprint);
  reducer.on_first([&] {
    directory.open(recipe);
    if (directory.was_begun() == begun) return;
    fail(ErrorKind::kUsage, "another process trained in '{}' meanwhile; run the command again",
         directory.path());
  });
  return text;
}

void Training::make_task(const CheckedText& text) {
  task = text.prepare(
      [&](const models::ModelSettings& settings) -> const models::Model& { return build_model(settings); });
}

const models::Model& Training::build_model(const models::ModelSettings& settings) {
  const bool further = !recipe.from.empty(), begun = directory.was_begun();
  models::FineTunedModel made = make_model(recipe, directory, settings);
  model = std::move(made.model);
  reduction = std::make_unique<GradientReduction>(table(), pool, reducer,
                                                  GradientReduction::Options{recipe.precision, stop});
  optimizer = std::make_unique<Optimizer>(table(), recipe, reducer);
  checkpoint.values = nn::ParameterArray(table(), DType::kFloat32);
  if (reducer.is_first()) {
    checkpoint.first_moment = nn::ParameterArray(table(), DType::kFloat32);
    checkpoint.second_moment = nn::ParameterArray(table(), DType::kFloat32);
  }
  nn::initialize(table(), checkpoint.values, RandomKey::from_seed(recipe.seed));
  if (further && !begun) begin_with_weights(made.new_prefixes);
  if (recipe.averaging == Averaging::kRunning) {
    checkpoint.average = nn::ParameterArray(table(), DType::kFloat32);
    checkpoint.average.flat() = checkpoint.values.flat().clone();
  }
  store.emplace(TrainingStore::Parts{directory, recipe, table(), reducer, *optimizer, checkpoint},
                [this](const std::string& text) { say(text); });
  return *model;
}

void Training::begin_with_weights(const std::vector<std::string>& new_prefixes) {
  const auto fresh = models::read_weights_over(*models::ModelDirectory::open(recipe.from).weights(), table(),
                                               new_prefixes, checkpoint.values);
  say(fmt::format("fine-tuning from the weights of '{}'", recipe.from));
  if (!fresh.empty()) say(fmt::format("initialized at random: {}", fmt::join(fresh, ", ")));
}

void Training::begin_or_resume() {
  auto found = read_checkpoint(directory.checkpoint(), table(), recipe.averaging == Averaging::kRunning);
  if (found) {
    checkpoint = std::move(*found);
    require_the_same_text();
  }
  write_model_files(found ? ModelInventory(directory.path()) : ModelInventory());
  if (found) say(fmt::format("resuming from step {}", checkpoint.state.step));
  batches = batches_at(checkpoint.state.cursor);
  if (found) {
    store->resume(batches->cursor());
  } else {
    checkpoint.state.text = task.fingerprint;
    store->begin(batches->cursor());
  }
  const int64_t logged = checkpoint.state.step - (checkpoint.state.unvalidated ? 1 : 0);
  log.emplace(directory.folder() + "/metrics.jsonl", logged, [this](const std::string& text) { say(text); });
}

/// All but those to keep. A training that has begun keeps its own: their user may have changed settings of
/// the search, and a finished training has chosen alignment heads.
void Training::write_model_files(const ModelInventory& kept) {
  if (!kept.has(model_file::kConfig)) {
    write_json(directory.path() + "/" + model_file::kConfig, model->config_json());
  }
  if (task.write_generation_config && !kept.has(model_file::kGenerationConfig)) {
    task.write_generation_config(directory.path());
    checkpoint.state.finished_step = kNotFinished;
  }
}

std::unique_ptr<BatchSource> Training::batches_at(const BatchCursor& cursor) const {
  return task.batches(cursor, batch_tokens());
}

void Training::require_the_same_text() const {
  if (checkpoint.state.text == task.fingerprint) return;
  fail(ErrorKind::kUsage,
       "the training or validation text has changed since the training in '{}' began; give the same text, or "
       "train into another directory",
       directory.path());
}

/// Every process computes the first shard of the next batch. The gradients must have the same bits.
void Training::compare_processors() {
  reducer.check_gradients([&] {
    const auto next = batches_at(checkpoint.state.cursor);
    const std::vector<Batch> shards = next->next(static_cast<size_t>(recipe.shard_count()));
    const auto pass = [&](ShardPass& shard) {
      const BatchLoss loss = task.loss(shard.context(), shard.batch(), 1);
      shard.backward(loss.loss);
      return loss.sums;
    };
    return reduction->fingerprint(shards[0], checkpoint.values, RandomKey::from_seed(recipe.seed), pass);
  });
}

}  // namespace heed::train
