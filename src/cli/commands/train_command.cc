// heed train

#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "cli/jobs/training_progress.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "cli/options/terminal.h"
#include "distributed/agreement.h"
#include "distributed/launch.h"
#include "models/architecture.h"
#include "train/loop/trainer.h"
#include "train/recipe/training_options.h"
#include "train/tasks/task.h"

namespace heed::cli {
namespace {

/// What is not part of heed::TrainOptions as it stands.
struct CommandOptions {
  CommonOptions common;
  TrainOptions training;
  std::string languages, from, arch, precision;
  std::optional<int64_t> max_steps, batch_tokens;
  std::optional<double> max_minutes, max_epochs;
  std::optional<uint64_t> seed;
  std::optional<int> shards;
  std::vector<std::string> settings;  // KEY=VALUE
  const Command* command = nullptr;
};

/// Settings in the order in which they apply: --set, the options that set a single recipe key.
std::vector<train::Setting> settings_of(const CommandOptions& o) {
  std::vector<train::Setting> settings;
  for (const std::string& setting : o.settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) fail(ErrorKind::kUsage, "--set takes KEY=VALUE, not '{}'", setting);
    settings.push_back({setting.substr(0, equals), setting.substr(equals + 1), "--set"});
  }
  const auto add = [&](const char* key, const std::string& value, const char* option) {
    settings.push_back({key, value, option});
  };
  if (o.seed) add("training.seed", std::to_string(*o.seed), "--seed");
  if (o.batch_tokens) add("training.batch_tokens", std::to_string(*o.batch_tokens), "--batch-tokens");
  if (o.shards) add("training.shards", std::to_string(*o.shards), "--shards");
  if (!o.precision.empty()) add("training.precision", o.precision, "--precision");
  if (!o.arch.empty()) add("model.arch", o.arch, "--arch");
  if (!o.from.empty()) add("training.from", o.from, "--from");
  return settings;
}

train::TrainerOptions trainer_options(const CommandOptions& o) {
  TrainOptions training = o.training;
  training.max_steps = o.max_steps.value_or(0);
  training.max_minutes = o.max_minutes.value_or(0);
  training.max_epochs = o.max_epochs.value_or(0);
  if (!o.languages.empty()) {
    const auto [source, target] = split_pair(o.languages);
    training.languages = source + "-" + target;
  }
  train::TrainerOptions options = train::trainer_options(training, settings_of(o));
  options.threads = o.common.threads;
  options.stop = &interrupted();
  options.on_ready = [] { on_interrupt(OnInterrupt::kFinishWork); };
  return options;
}

/// Which weights the model has, behind `before`, if not those of the last step; otherwise empty.
std::string describe_older_weights(const char* before, const train::TrainingSummary& summary) {
  if (summary.best_step >= summary.steps) return "";
  const std::string weights = summary.best_step == 0
                                  ? "that the training began with, since no validation was better"
                                  : fmt::format("of step {}, the best validation", summary.best_step);
  return fmt::format("{} the weights {}", before, weights);
}

int run_train_with(const CommandOptions& o, distributed::Communicator& ranks) {
  train::TrainerOptions options;
  distributed::together(ranks, [&] { options = trainer_options(o); });
  options.ranks = &ranks;
  options.option_names = [&](const std::string& field) { return o.command->flag_of(field); };
  TrainingProgress progress({options.max_steps, options.max_minutes, options.max_epochs},
                            stderr_is_terminal());
  if (!o.common.quiet) {
    options.on_message = [&](const std::string& text) { progress.message(text); };
    options.on_work = [&](const std::string& what) { progress.work(what); };
    options.on_progress = [&](double fraction) { progress.work_progress(fraction); };
    options.on_step = [&](const train::Metrics& metrics) { progress.step(metrics); };
  }
  const train::TrainingSummary summary = train::train(options);
  if (summary.end == train::TrainingEnd::kStopped) {
    if (!ranks.is_first()) return kExitInterrupted;
    progress.clear_line();
    if (summary.steps == 0) {
      std::fprintf(stderr, "heed: stopped before the first step; run the same command again\n");
    } else {
      std::fprintf(stderr, "heed: stopped at step %lld and saved%s; run the same command again to resume\n",
                   static_cast<long long>(summary.steps),
                   describe_older_weights("; the model has", summary).c_str());
    }
    return kExitInterrupted;
  }
  if (!o.common.quiet && ranks.is_first()) {
    progress.message(fmt::format("done: {} in {}; the model is in {}{}", counted(summary.steps, "step"),
                                 duration(summary.seconds), o.training.output,
                                 describe_older_weights(", with", summary)));
  }
  return kExitDone;
}

/// With several processes, rank 0 reports what all have agreed on.
int run_train(const CommandOptions& o) {
  distributed::Communicator& ranks = distributed::world();
  try {
    return run_train_with(o, ranks);
  } catch (const distributed::AgreedError& error) {
    if (ranks.is_first()) throw;
    return error.kind() == ErrorKind::kUsage ? kExitUsage : kExitFailed;
  }
}

}  // namespace

void add_train(Command& app, Work& work) {
  auto [command, o] = add_command(app, work, "train",
                                  "Train a translation model, a language model or a classifier", run_train);
  o->command = command;
  command->footer(R"(Examples:
  heed train --pairs de-en.tsv --valid-pairs dev.tsv --output my-model --max-minutes 60
  heed train --task lm --text book.txt --valid-text rest.txt --output my-model --max-minutes 30
  heed train --task classify --text train.tsv --valid-text dev.tsv --output my-model --max-minutes 5
  heed train --from models/de-en --pairs mine.tsv --valid-pairs dev.tsv --output mine --max-minutes 5
  mpirun -n 4 heed train --pairs de-en.tsv --valid-pairs dev.tsv --output my-model --max-minutes 60
Run the same command again to resume an interrupted training. Started by mpirun or srun, all processes train
one model, with the weights of a training in one process.)");
  command->add_option("--task TASK", o->training.task,
                      "translation, lm (language model) or classify [default: that of the architecture]");
  command
      ->add_option("--pairs F.tsv", o->training.pairs,
                   "Parallel training data, lines of SOURCE TAB TARGET; may be repeated. A recipe can list "
                   "several corpora with weights")
      ->repeatable();
  command->add_option("--valid-pairs F.tsv", o->training.valid_pairs,
                      "Validation data in the format of --pairs");
  command->add_option(
      "--text F", o->training.text,
      "Training data of a language model (plain text) or a classifier (lines of LABEL TAB TEXT)");
  command->add_option("--valid-text F", o->training.valid_text, "Validation data in the format of --text");
  command->add_option("--output DIR", o->training.output, "Model directory to create, or to resume")
      ->required();
  add_number(*command, "--max-minutes", o->max_minutes, "Stop after N minutes of training in total",
             {.least = 0, .above_least = true});
  add_integer(*command, "--max-steps", o->max_steps, "Stop after N updates in total", {1, 1 << 30});
  add_number(*command, "--max-epochs", o->max_epochs, "Stop after N epochs in total, such as 10 or 0.5",
             {.least = 0, .above_least = true});
  command->group("Recipe");
  command->add_option("--preset NAME", o->training.preset, "Built-in recipe: tiny, small or base")
      ->show_default();
  command->add_option("--recipe F.toml", o->training.recipe, "TOML file whose settings override the preset");
  command
      ->add_option("--set KEY=VALUE", o->settings,
                   "Override one recipe setting, such as model.width=512; may be repeated")
      ->take_all();
  command->add_option("--from DIR", o->from,
                      "Fine-tune this model: start from its weights and tokenizer (training.from)");
  std::vector<std::string> architectures;
  for (const models::Architecture& each : models::architectures()) {
    architectures.push_back(fmt::format("{} ({})", each.name, train::task_kind(each.task).name));
  }
  command->add_option("--arch NAME", o->arch,
                      fmt::format("Architecture (model.arch): {}", fmt::join(architectures, ", ")));
  add_integer(*command, "--batch-tokens", o->batch_tokens,
              "Batch size in tokens, of the longer side (training.batch_tokens)", {1, 1 << 30});
  add_integer(*command, "--shards", o->shards,
              "Shards per batch, the units of work of the threads (training.shards)", {0, 1024});
  command->add_option(
      "--precision NAME", o->precision,
      "Precision of matrix products: highest (float32) or medium (bfloat16), which is faster on "
      "processors with AMX or AVX512-BF16 (training.precision)");
  add_integer(*command, "--seed", o->seed, "Random seed (training.seed)",
              {0, std::numeric_limits<int64_t>::max()});
  command->group("Data");
  command->add_option("--source F", o->training.source,
                      "Source side of the training data, one sentence per line; instead of --pairs");
  command->add_option("--target F", o->training.target, "Target side of the training data");
  command->add_option("--valid-source F", o->training.valid_source, "Source side of the validation data");
  command->add_option("--valid-target F", o->training.valid_target, "Target side of the validation data");
  command->add_switch("--swap", o->training.swap, "Swap source and target");
  command->add_option("--pair PAIR", o->languages, "Language pair to store in the model, such as de-en");
  command->add_switch("--lossy", o->training.lossy, "Replace invalid UTF-8 instead of failing");
  add_common_options(*command, o->common);
}

}  // namespace heed::cli
