// A model in the format of another program, presented as a directory of Hugging Face's library: its
// config.json, its names of tensors, its tokenizer. heed convert writes it.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "cli/files/weight_conversion.h"
#include "models/directory/model_directory.h"

namespace heed::cli {

struct ImportedModel {
  std::string path;  ///< for messages
  /// The text of config.json; of a translation model, also with the keys of generation_config.json, as in
  /// older directories.
  std::string config;
  std::shared_ptr<const WeightFiles> weights;
  /// Where a generation_config.json takes precedence over the keys of `config`; that of a language model is
  /// copied.
  ModelInventory files;
  /// Writes the tokenizer to a directory, and what else the format has.
  std::function<void(const std::string& directory)> write_others;
};

/// A directory of CTranslate2 with the tokenizer of the original model.
ImportedModel import_ctranslate2(const models::ModelDirectory& directory);

/// Writes all files to a directory, which must exist. Throws kFile, kNumeric for a number that overflows in
/// the type, and the errors of the tokenizer.
void write_imported(const ImportedModel& model, const std::string& directory,
                    const WeightConversion& conversion);

/// The names under which files of PyTorch have a tied parameter of the model once more, as views of the same
/// data. Without those that transformers needs.
std::set<std::string> tied_views(const WeightFiles& files, const models::Model& model);

/// Writes config.json with the data type of the weights.
void write_config(const nlohmann::ordered_json& config, const std::string& directory, DType dtype);

}  // namespace heed::cli
