#include "train/recipe/recipe_fields.h"

#include <algorithm>

#include "models/directory/fine_tuning.h"
#include "train/tasks/task.h"

namespace heed::train {
namespace {

/// "dropout" for "model.dropout"; empty for keys of other sections.
std::string model_setting(const std::string& key) {
  const std::string section = "model.";
  return key.starts_with(section) ? key.substr(section.size()) : "";
}

/// The dropout that a key sets; nullptr for other keys, and if the architecture has no such dropout.
const models::Dropout* dropout_of(const Recipe& recipe, const std::string& key) {
  const auto& dropouts = models::architecture_named(recipe.arch).dropouts;
  const auto found = std::ranges::find(dropouts, model_setting(key), &models::Dropout::setting);
  return found == dropouts.end() ? nullptr : &*found;
}

}  // namespace

bool is_fixed_by_model(const Recipe& recipe, const RecipeKey& key) {
  return key.fine_tuning == FineTuning::kOfModel && dropout_of(recipe, key.name) == nullptr;
}

bool keeps_model_value(const Recipe& recipe, const RecipeKey& key) {
  const models::Dropout* dropout = dropout_of(recipe, key.name);
  return dropout != nullptr && recipe.model.*dropout->field == models::kKeepModelValue;
}

bool has_field(const Recipe& recipe, const RecipeKey& key) {
  const bool further = !recipe.from.empty();
  if (key.name == kFrom) return further;
  if (further && is_fixed_by_model(recipe, key)) return false;
  if (const std::string setting = model_setting(key.name); !setting.empty()) {
    const auto& known = models::architecture_named(recipe.arch).settings;
    return key.name == kArchitecture || std::ranges::count(known, setting) > 0;
  }
  return key.tasks.empty() || std::ranges::count(key.tasks, recipe.task()) > 0;
}

const Words<ScheduleKind>& schedule_names() {
  static const Words<ScheduleKind> names{{"noam", ScheduleKind::kNoam},
                                         {"inverse_sqrt", ScheduleKind::kInverseSqrt},
                                         {"cosine", ScheduleKind::kCosine},
                                         {"linear", ScheduleKind::kLinear},
                                         {"constant", ScheduleKind::kConstant}};
  return names;
}

const Words<models::Task>& task_names() {
  static const Words<models::Task> names = [] {
    Words<models::Task> words;
    for (const TaskKind& kind : task_kinds()) words.emplace_back(kind.name, kind.task);
    return words;
  }();
  return names;
}

}  // namespace heed::train
