// The table of architectures, with everything that training and loading need. To add one, write a file in
// this folder that creates a row, and add it to architecture.cc.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "base/text/known_keys.h"
#include "models/directory/model_settings.h"
#include "models/model.h"

namespace heed {
class WeightFiles;
}

namespace heed::models {

struct FineTunedModel;

/// A dropout setting of a recipe's [model], which fine-tuning may change.
struct Dropout {
  std::string setting;                   ///< as visit_model_settings() names it
  double ModelSettings::*field;          ///< kKeepModelValue if not set by the recipe
  std::vector<std::string> config_keys;  ///< of config.json, which hold it
};

/// Opens the weights beside a config.
using WeightsOf = std::function<const WeightFiles&()>;

struct Architecture {
  std::string name;                      ///< of --arch and model.arch
  std::string description;               ///< for people, a few words
  Task task = Task::kTranslation;        ///< the task it supports
  bool token_types = false;              ///< of an encoder: whether it reads them
  std::vector<std::string> model_types;  ///< the model_types of config.json that it reads

  /// The supported settings of a recipe's [model], with the names of visit_model_settings().
  std::vector<std::string> settings;
  /// The dropouts among its settings, with their keys in config.json.
  std::vector<Dropout> dropouts = {};
  /// The model settings of --preset.
  ModelPreset (*preset)(PresetSize size) = nullptr;
  /// Creates a model with these settings. Throws for invalid settings.
  std::unique_ptr<Model> (*make)(const ModelSettings& settings) = nullptr;
  /// The keys of config.json with this model_type, besides those of all types (models/config/config_keys.h).
  KnownKeys (*keys)(const std::string& model_type) = nullptr;
  /// Creates the model of a config.json. Throws kFormat for missing, invalid or unsupported values.
  std::unique_ptr<Model> (*read)(const JsonObject& config) = nullptr;
  /// The same for the encoder alone, whatever head the config names; null for models that are not encoders.
  std::unique_ptr<Model> (*read_encoder)(const JsonObject& config) = nullptr;
  /// Creates the model of a config.json for fine-tuning with the labels of `text`, if it differs from read()
  /// (fine_tuning.h).
  FineTunedModel (*read_for_fine_tuning)(const JsonObject& config, const ModelSettings& text) = nullptr;
  /// The config with what it leaves to the weights, which are opened when `weights` is called; null: a config
  /// says everything. Throws kFormat for invalid values.
  JsonObject (*complete)(const JsonObject& config, const WeightsOf& weights) = nullptr;
};

/// The first architecture of a task is its default.
const std::vector<Architecture>& architectures();

/// Looks up a name. Throws kUsage for an unknown one, with the known names and the nearest.
const Architecture& architecture_named(const std::string& name);
/// Looks up a model_type of config.json; nullptr if unknown.
const Architecture* architecture_of_type(const std::string& model_type);
/// The architecture of a config.json. Throws kFormat for an unknown model_type.
const Architecture& architecture_of(const JsonObject& config);
/// All model types, or those for a task, in table order.
std::vector<std::string> known_model_types(std::optional<Task> task = {});

}  // namespace heed::models
