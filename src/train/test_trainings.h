// Test helper: trainings of every task, which take a fraction of a second.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "models/architecture.h"
#include "test_folder.h"
#include "train/loop/trainer.h"
#include "train/tasks/task.h"

namespace heed::train {

/// A text for each task, of a few repeated words.
inline TrainingText small_text(const TestFolder& folder, models::Task task, const std::string& name,
                               size_t lines = 60) {
  static const std::vector<std::pair<std::string, std::string>> words{
      {"Hund", "dog"}, {"Mann", "man"}, {"Baum", "tree"}, {"alte", "old"}, {"rote", "red"}};
  std::string text;
  for (size_t n = 0; n < lines; ++n) {
    const auto& [one, first] = words[n % 5];
    const auto& [two, second] = words[n / 5 % 5];
    switch (task) {
      case models::Task::kTranslation:
        text += fmt::format("{} {}\t{} {}\n", one, two, first, second);
        break;
      case models::Task::kClassification:
        text += fmt::format("{}\t{} {}\n", n % 5 == 0 ? "animal" : "other", one, two);
        break;
      default:
        text += fmt::format("{} {} and {}.\n", one, two, first);
    }
  }
  const std::string path = folder.write(name, text);
  if (task == models::Task::kTranslation) return {.pairs = {.pairs = path}};
  return {.text = path};
}

/// The preset small of a translator with these settings.
inline Recipe recipe_with(const std::vector<std::pair<std::string, std::string>>& values) {
  std::vector<Setting> settings;
  for (const auto& [key, value] : values) settings.push_back({key, value, "test"});
  return make_recipe("small", "", settings);
}

/// The tiny preset with smaller sizes and these settings.
inline Recipe small_recipe(models::Task task, const std::map<std::string, std::string>& more = {}) {
  std::map<std::string, std::string> values{
      {"model.width", "16"},           {"model.heads", "2"},     {"model.feed_forward_width", "32"},
      {"training.batch_tokens", "64"}, {"training.shards", "2"}, {"validation.every", "2"},
      {"validation.metric", "loss"}};
  if (task == models::Task::kTranslation) {
    values["tokenizer.vocabulary"] = "60";
    values["tokenizer.byte_fallback"] = "false";
    values["validation.sentences"] = "2";
  }
  if (task == models::Task::kLanguageModel) values["training.block_size"] = "16";
  for (const auto& [key, value] : more) values[key] = value;
  std::vector<Setting> settings;
  for (const auto& [key, value] : values) settings.push_back({key, value, "test"});
  return make_recipe("tiny", task_kind(task).name, settings);
}

inline TrainerOptions small_training(const TestFolder& folder, models::Task task, const std::string& output,
                                     const Recipe& recipe) {
  TrainerOptions options;
  options.output = folder.path(output);
  options.data = small_text(folder, task, "train");
  options.validation = small_text(folder, task, "valid", 6);
  options.recipe = recipe;
  options.threads = 2;
  options.max_steps = 5;
  return options;
}

/// All files of a training, without the times in them.
using Files = std::map<std::string, std::string>;
inline Files files_of(const std::string& directory) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    const std::string name = std::filesystem::relative(entry.path(), directory).string();
    if (!entry.is_regular_file() || name == "training/lock" || name == "training/metrics.jsonl") continue;
    std::string content = content_of(entry.path().string());
    if (name == "training/checkpoint.safetensors") {  // its header has times
      uint64_t header = 0;
      std::memcpy(&header, content.data(), sizeof header);
      content.erase(0, sizeof header + header);
    }
    files[name] = content;
  }
  return files;
}

/// The names of files that differ or exist in only one of two trainings.
inline std::vector<std::string> different_files(const Files& one, const Files& other) {
  std::vector<std::string> names;
  for (const auto& [name, content] : one) {
    if (!other.contains(name) || other.at(name) != content) names.push_back(name);
  }
  for (const auto& [name, content] : other) {
    if (!one.contains(name)) names.push_back(name);
  }
  return names;
}

inline const std::vector<std::string> kNone;

}  // namespace heed::train
