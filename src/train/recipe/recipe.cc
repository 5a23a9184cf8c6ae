#include "train/recipe/recipe.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/text/nearest_word.h"
#include "models/architecture.h"
#include "models/directory/fine_tuning.h"
#include "train/recipe/recipe_fields.h"
#include "train/recipe/recipe_settings.h"
#include "train/tasks/task.h"

namespace heed::train {
namespace {

constexpr int64_t kLongestFurtherBlock = 512;  // by default, for models that have been trained before

/// The name of the architecture to train.
std::string choose_architecture(const std::string& task, const std::string& from,
                                const std::vector<Setting>& settings) {
  std::optional<models::Task> wanted;
  std::vector<std::string> names;
  for (const auto& [name, value] : task_names()) {
    if (name == task) wanted = value;
    names.push_back(name);
  }
  if (!task.empty() && !wanted) {
    fail(ErrorKind::kUsage, "unknown task '{}'; choose {}{}", task, fmt::join(names, ", "),
         did_you_mean(task, names));
  }
  std::string chosen;
  if (const Setting* arch = find_setting(settings, kArchitecture)) {
    chosen = models::architecture_named(arch->value).name;
  }
  if (chosen.empty() && !from.empty()) chosen = models::ModelDirectory::open(from).architecture().name;
  std::vector<std::string> suited;
  for (const auto& each : models::architectures()) {
    if (each.task == wanted.value_or(models::Task::kTranslation)) suited.push_back(each.name);
  }
  if (chosen.empty()) {
    if (suited.empty()) fail(ErrorKind::kUsage, "no architecture supports the task '{}'", task);
    return suited[0];
  }
  if (wanted && models::architecture_named(chosen).task != *wanted) {
    fail(ErrorKind::kUsage, "the architecture {} does not support the task '{}'; choose {}", chosen, task,
         fmt::join(suited, ", "));
  }
  return chosen;
}

models::PresetSize preset_size(const std::string& name) {
  static const Words<models::PresetSize> sizes{{"tiny", models::PresetSize::kTiny},
                                               {"small", models::PresetSize::kSmall},
                                               {"base", models::PresetSize::kBase}};
  std::vector<std::string> names;
  for (const auto& [word, size] : sizes) {
    if (word == name) return size;
    names.push_back(word);
  }
  fail(ErrorKind::kUsage, "unknown preset '{}'; choose {}{}", name, fmt::join(names, ", "),
       did_you_mean(name, names));
}

bool sets(const std::vector<Setting>& settings, const std::string& key) {
  return find_setting(settings, key) != nullptr;
}

/// Explicit settings are taken as they are.
void limit_fit(Recipe& recipe, const std::vector<Setting>& settings) {
  if (!sets(settings, kFitSchedule)) {
    recipe.fit_schedule = !sets(settings, "schedule.warmup_steps") &&
                          !sets(settings, "schedule.total_steps") &&
                          (has_end(recipe.schedule) || !sets(settings, "schedule.kind"));
  }
  if (!sets(settings, kFitBatch)) {
    recipe.fit_batch = recipe.from.empty() && !sets(settings, "training.batch_tokens") &&
                       !sets(settings, "training.gradient_accumulation");
  }
  if (!sets(settings, kFitValidation)) recipe.fit_validation = !sets(settings, "validation.every");
}

/// The default lengths of texts. A new language model or classifier is trained with as many positions as it
/// has, since all of them are used afterwards. Where the settings have a length, as a recorded recipe does,
/// the model of --from is not read: a training is resumed without it.
void choose_length(Recipe& recipe, const std::vector<Setting>& settings) {
  const models::Task task = recipe.task();
  const bool blocks = task == models::Task::kLanguageModel;
  if (sets(settings, blocks ? kBlockSize : kMaxLength)) return;
  int64_t& length = blocks ? recipe.block_size : recipe.max_length;
  const bool further = !recipe.from.empty();
  if (further && blocks) length = std::min(kLongestFurtherBlock, recipe.batch_tokens);
  const int64_t positions =
      further ? models::max_length_of(models::ModelDirectory::open(recipe.from)) : recipe.model.max_length;
  if (!further && task != models::Task::kTranslation) {
    length = positions;
  } else if (positions > 0) {
    length = std::min(length, positions);
  }
}

}  // namespace

const Setting* find_setting(const std::vector<Setting>& settings, const std::string& key) {
  const auto found =
      std::find_if(settings.rbegin(), settings.rend(), [&](const Setting& each) { return each.key == key; });
  return found == settings.rend() ? nullptr : &*found;
}

std::string path_of_source(const std::vector<Setting>& settings) {
  const Setting* from = find_setting(settings, kFrom);
  return from == nullptr || from->value.empty() ? "" : absolute_path_of(*from);
}

Recipe make_recipe(const std::string& preset, const std::string& task, const std::vector<Setting>& settings) {
  Recipe recipe;
  recipe.from = path_of_source(settings);
  recipe.arch = choose_architecture(task, recipe.from, settings);
  const models::PresetSize size = preset_size(preset);
  const models::ModelPreset model = models::architecture_named(recipe.arch).preset(size);
  recipe.model = model.settings;
  recipe.learning_rate = model.learning_rate;
  recipe.warmup_steps = model.warmup_steps;
  recipe.clip_norm = model.clip_norm;
  task_kind(recipe.task()).preset(size, recipe);
  if (!recipe.from.empty()) {  // dropouts default to those of the model
    for (const models::Dropout& dropout : models::architecture_named(recipe.arch).dropouts) {
      recipe.model.*dropout.field = models::kKeepModelValue;
    }
  }
  for (const Setting& setting : settings) {
    if (setting.key != kArchitecture && setting.key != kFrom) apply_setting(recipe, setting);
  }
  choose_length(recipe, settings);
  limit_fit(recipe, settings);
  if (!recipe.from.empty() && recipe.schedule == ScheduleKind::kNoam) {
    fail(ErrorKind::kUsage,
         "the schedule noam derives the learning rate from model.width, which is too high for fine-tuning: "
         "set schedule.kind to inverse_sqrt, cosine, linear or constant, and schedule.learning_rate");
  }
  return recipe;
}

void check_model_settings(const Recipe& recipe) {
  if (!recipe.from.empty()) return;  // sizes of the model
  const auto& known = models::architecture_named(recipe.arch).settings;
  const auto has = [&](const char* setting) { return std::ranges::count(known, setting) > 0; };
  const models::ModelSettings& model = recipe.model;
  if (has("heads") && model.width % model.heads != 0) {
    fail(ErrorKind::kUsage, "model.width ({}) must be divisible by model.heads ({})", model.width,
         model.heads);
  }
  // Architectures with shared keys and values have rotary positions.
  const bool rotary = has("key_value_heads") ||
                      (has("positions") && (model.positions.kind == nn::PositionKind::kRotary ||
                                            model.positions.kind == nn::PositionKind::kRotaryInterleaved));
  if (rotary && model.width / model.heads % 2 != 0) {
    fail(ErrorKind::kUsage,
         "rotary positions need heads of an even width: model.width ({}) / model.heads ({}) is {}",
         model.width, model.heads, model.width / model.heads);
  }
  if (has("key_value_heads") && model.key_value_heads > 0 && model.heads % model.key_value_heads != 0) {
    fail(ErrorKind::kUsage, "model.heads ({}) must be divisible by model.key_value_heads ({})", model.heads,
         model.key_value_heads);
  }
}

std::string schedule_name(ScheduleKind kind) {
  return models::name_in(schedule_names(), kind);
}

models::Task Recipe::task() const {
  return models::architecture_named(arch).task;
}

Schedule Recipe::make_schedule() const {
  return {.kind = schedule,
          .learning_rate = learning_rate,
          .warmup_steps = warmup_steps,
          .total = total_steps,
          .width = model.width};
}

int Recipe::shard_count() const {
  if (shards > 0) return shards;
  // Shards of at least about 500 tokens keep matrix products efficient; four shards keep four threads busy.
  return static_cast<int>(std::clamp<int64_t>(batch_tokens / 512, 2, 4));
}

}  // namespace heed::train
