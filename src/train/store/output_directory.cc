#include "train/store/output_directory.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/check.h"
#include "base/files/directory_listing.h"
#include "base/files/file.h"
#include "base/files/model_inventory.h"
#include "base/files/part_files.h"
#include "base/text/option_error.h"
#include "train/recipe/recipe_fields.h"
#include "train/tasks/task.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;

/// Whether a directory contains weights of a model.
bool holds_weights(const ModelInventory& files) {
  return std::ranges::any_of(
      files.ending_in({".safetensors", model_file::kIndexSuffix, ".bin"}),
      [](const std::string& name) { return !name.ends_with(".bin") || name.starts_with("pytorch_model"); });
}

/// Whether it contains the configuration or the tokenizer of a model.
bool holds_model_files(const ModelInventory& files) {
  std::vector<std::string> names{model_file::kConfig};
  for (const TaskKind& kind : task_kinds()) {
    names.insert(names.end(), kind.tokenizer_files.begin(), kind.tokenizer_files.end());
  }
  return files.has_any(names);
}

}  // namespace

bool OutputDirectory::was_begun() const {
  return fs::exists(checkpoint());
}

void OutputDirectory::lock() {
  if (!lock_.held()) lock_ = FileLock::take(lock_file(), fmt::format("the training in '{}'", path_));
}

std::vector<Setting> OutputDirectory::recorded_settings() const {
  if (!fs::exists(recipe())) {
    fail(ErrorKind::kUsage,
         "'{}' is missing, so the training cannot be resumed: restore it from a copy, or train into "
         "another directory",
         recipe());
  }
  return with_present_keys(read_settings(read_file(recipe()), recipe()));
}

/// Recipes of earlier versions say nothing of fitting: their checkpoints tell that nothing is to be fitted.
/// Their path of the model to fine-tune may be relative, to a directory that is not known; and a training may
/// have moved with that model.
Recipe OutputDirectory::recorded_recipe(const Recipe& wanted) const {
  const std::vector<Setting> settings = recorded_settings();
  const auto has = [&](const char* key) { return find_setting(settings, key) != nullptr; };
  Recipe recorded = make_recipe("small", "", settings);
  std::error_code ignored;
  const bool is_known = has(kFrom) && fs::path(find_setting(settings, kFrom)->value).is_absolute() &&
                        fs::exists(recorded.from, ignored);
  if (!is_known && fs::path(recorded.from).filename() == fs::path(wanted.from).filename()) {
    recorded.from = wanted.from;
  }
  if (!has(kFitSchedule)) recorded.fit_schedule = wanted.fit_schedule;
  if (!has(kFitBatch)) recorded.fit_batch = wanted.fit_batch;
  if (!has(kFitValidation)) recorded.fit_validation = wanted.fit_validation;
  return recorded;
}

bool OutputDirectory::is_of_a_training() const {
  return is_present(lock_file()) || was_begun();
}

void OutputDirectory::check(const Recipe& wanted) {
  const bool is_known = is_of_a_training();
  if (is_known) {
    lock();
  } else if (fs::exists(folder_) && !names_in(folder_).empty()) {
    fail_option(
        "'{}' is not the folder of a training: it has no file 'lock', which every training of Heed writes. "
        "Its files are not overwritten; give another directory as $output",
        folder_);
  }
  if (!was_begun()) {
    const ModelInventory files(path_);
    if (holds_weights(files) || (!is_known && holds_model_files(files))) {
      fail_option(
          "'{}' contains a model that was not trained there, or whose training/checkpoint.safetensors is "
          "missing: it cannot be resumed and is not overwritten. Train into another directory; to start from "
          "the weights of this model, give it as $from",
          path_);
    }
    return;  // only prepared files, which are created again for another recipe
  }
  const Recipe before = recorded_recipe(wanted);
  const auto changed = differences(before, wanted);
  if (changed.empty()) return;
  fail(ErrorKind::kUsage,
       "the training in '{}' has another recipe: {}; give the same settings to resume, or train "
       "into another directory",
       path_, fmt::join(changed, ", "));
}

void OutputDirectory::open(const Recipe& wanted) {
  make_directories(folder_);
  check(wanted);  // before there is a lock, which would make the folder one of a training
  lock();
  remove_dead_parts_in(path_);
  remove_dead_parts_in(folder_);
  if (was_begun()) return;
  const std::string text = to_toml(wanted);
  if (!fs::exists(recipe()) || read_file(recipe()) != text) write_file(recipe(), text);
}

}  // namespace heed::train
