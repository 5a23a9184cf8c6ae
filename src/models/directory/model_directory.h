// A model directory, opened once: which files are there, its config, its weights and its task, whichever
// program wrote it. The formats of other programs are adapters, which present themselves as a directory of
// Hugging Face's library: its config.json, its names of tensors. src/text reads the tokenizer files.
#pragma once

#include <memory>
#include <string>

#include "base/files/model_inventory.h"
#include "base/text/json_file.h"
#include "io/weight_files.h"
#include "models/architecture.h"
#include "models/directory/generation_defaults.h"

namespace heed::models {

/// Cheap to copy; copies share what has been read. Not thread-safe before weights() was called.
class ModelDirectory {
 public:
  /// Reads the config; of a directory of CTranslate2, whose config follows from the weights, these, too.
  /// Throws kNotFound, kFile or kFormat.
  static ModelDirectory open(ModelInventory files);
  static ModelDirectory open(const std::string& directory) { return open(ModelInventory(directory)); }

  const std::string& path() const { return files_.directory(); }
  const ModelInventory& files() const { return files_; }
  /// "safetensors", "PyTorch" or "CTranslate2".
  std::string format() const;
  bool is_ctranslate2() const { return ctranslate2_; }

  /// config.json as Hugging Face's library has it, with what only the weights tell.
  const JsonObject& config() const { return config_; }
  /// The row of its model_type. Throws kFormat for an unknown type.
  const Architecture& architecture() const { return architecture_of(config_); }
  /// Of the architecture: kClassification for encoders, whatever their head.
  Task task() const { return architecture().task; }
  /// The bits of quantized weights, 8 or 4; 0 for weights in floats. Throws kFormat for an unsupported
  /// quantization.
  int quantized_bits() const;
  /// Opened by the first call. Throws as WeightFiles::open().
  const std::shared_ptr<const WeightFiles>& weights() const;

  /// The model of the config: with the head that it names, or, with the modules of a sentence-embedding model
  /// and unless it is a classifier, the encoder alone. Throws kFormat for missing, invalid or unsupported
  /// values.
  std::unique_ptr<Model> create_model() const;
  /// The encoder alone, whatever head the config names. Throws kUsage for models that are not encoders.
  std::unique_ptr<Model> create_encoder() const;
  /// The settings of generation_config.json, or those of the config. Throws kFormat.
  GenerationDefaults generation() const;

 private:
  ModelDirectory(ModelInventory files, JsonObject config);
  void adapt_ctranslate2();
  void complete_config();

  ModelInventory files_;
  JsonObject config_;
  bool ctranslate2_ = false;
  mutable std::shared_ptr<const WeightFiles> weights_;
};

/// Throws kUsage, for what a model with this task cannot do: says which commands it is for.
[[noreturn]] void refuse_task(std::string_view directory, std::string_view model_type, Task task);

}  // namespace heed::models
