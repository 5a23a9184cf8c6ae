#include "train/tasks/task.h"

#include <filesystem>

#include "base/check.h"
#include "base/files/fingerprint.h"
#include "base/text/option_error.h"
#include "models/directory/model_directory.h"
#include "train/loop/trainer.h"
#include "train/tasks/classification_task.h"
#include "train/tasks/language_task.h"
#include "train/tasks/translation_task.h"

namespace heed::train {

const std::vector<TaskKind>& task_kinds() {
  static const std::vector<TaskKind> table{translation_kind(), language_kind(), classification_kind()};
  return table;
}

const TaskKind& task_kind(models::Task task) {
  for (const TaskKind& kind : task_kinds()) {
    if (kind.task == task) return kind;
  }
  fail(ErrorKind::kUsage, "models of this kind can be used here, but not trained");
}

void require_text(const TrainerOptions& options, const char* model, const char* text) {
  for (const TrainingText* part : {&options.data, &options.validation}) {
    if (part->pairs.is_named() || !options.recipe.corpora.empty() ||
        !options.recipe.cleaning.held_out.empty()) {
      fail_option("{} is trained on {}, not on pairs: give $text (and $valid_text)", model, text);
    }
    require_rereadable(part->text);
  }
  if (options.data.pairs.swap) fail_option("{} is trained on {}: $swap is for pairs", model, text);
  if (!options.source_language.empty()) {
    fail_option("{} is trained on {}: $languages are those of pairs", model, text);
  }
  if (options.data.text.empty()) fail_option("{} needs {} to learn from: $text", model, text);
}

void require_rereadable(const std::string& path) {
  std::error_code ignored;
  if (path == "-" || std::filesystem::is_fifo(path, ignored)) {
    fail(ErrorKind::kUsage, "{} cannot be read twice: give a file",
         path == "-" ? "standard input" : fmt::format("the pipe '{}'", path));
  }
}

uint64_t fingerprint_of_texts(uint64_t training, std::optional<uint64_t> validation) {
  Fingerprint all;
  all.add_number(training);
  if (validation) all.add_number(*validation);
  return all.value();
}

std::optional<models::GenerationDefaults> generation_of_source(const TaskInput& input) {
  const std::string& from = input.options.recipe.from;
  if (from.empty()) return std::nullopt;
  return models::ModelDirectory::open(input.begun ? input.options.output : from).generation();
}

LossSums sum_losses(const TaskInput& input, const nn::PackedWeights& weights,
                    const std::vector<Batch>& batches,
                    const std::function<LossSums(nn::Context& context, const Batch& batch)>& loss) {
  std::vector<LossSums> sums(batches.size());
  const Range own = input.reducer.own_part(static_cast<int64_t>(batches.size()));
  input.reducer.together([&] {
    input.pool.run(static_cast<size_t>(own.size()), [&](size_t item) {
      input.stop.check();
      const size_t n = static_cast<size_t>(own.begin) + item;
      nn::Context context = weights.context();
      sums[n] = loss(context, batches[n]);
    });
  });
  input.reducer.gather(sums);
  LossSums total;
  for (const LossSums& each : sums) total.add(each);
  return total;
}

void LossSums::add(const LossSums& other) {
  loss += other.loss;
  negative_log_likelihood += other.negative_log_likelihood;
  weight += other.weight;
  tokens += other.tokens;
}

}  // namespace heed::train
