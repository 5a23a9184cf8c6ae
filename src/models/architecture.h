// The architectures there are, one row each: everything that training and reading a directory need to know of
// one. A new architecture is a file of this folder that makes a row, and its line in architecture.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "models/model.h"
#include "models/model_settings.h"

namespace heed::models {

struct FurtherModel;

/// A dropout of a recipe's [model]: a setting that a model trained further need not keep.
struct Dropout {
  std::string setting;                   ///< as visit_model_settings() names it
  double ModelSettings::*field;          ///< kAsTheModelSays where the recipe leaves it to the model
  std::vector<std::string> config_keys;  ///< of config.json, which hold it
};

struct Architecture {
  std::string name;                      ///< of --arch and model.arch
  std::string description;               ///< for people, a few words
  Task task = Task::kTranslation;        ///< what it is for
  std::vector<std::string> model_types;  ///< the model_types of config.json that it reads
  /// The settings of a recipe's [model] that it knows, as visit_model_settings() names them.
  std::vector<std::string> settings;
  /// Those of its settings that are dropouts and stand in config.json.
  std::vector<Dropout> dropouts = {};
  /// What --preset begins with.
  ModelPreset (*preset)(PresetSize size) = nullptr;
  /// A model of these settings, which writes its config.json by Model::config_json(). Throws for settings
  /// that make no sense.
  std::unique_ptr<Model> (*make)(const ModelSettings& settings) = nullptr;
  /// The model of a config.json. Throws kFormat for anything missing, out of range, or that cannot be done.
  std::unique_ptr<Model> (*read)(const JsonObject& config) = nullptr;
  /// The model of a config.json that is to be trained further for the labels of `text`, where that is another
  /// than read() gives (further_training.h).
  FurtherModel (*read_further)(const JsonObject& config, const ModelSettings& text) = nullptr;
};

/// The first of a task is what is trained where none is named.
const std::vector<Architecture>& architectures();

/// By its name. Throws kUsage for another one, naming those there are, and the nearest.
const Architecture& architecture_named(const std::string& name);
/// By a model_type of config.json; nullptr where there is none.
const Architecture* architecture_of_type(const std::string& model_type);
/// Of a config.json. Throws kFormat for a model_type that there is none for.
const Architecture& architecture_of(const JsonObject& config);
/// All of them, or those for a task, in the table's order.
std::vector<std::string> known_model_types(std::optional<Task> task = {});

}  // namespace heed::models
