#include "models/model_directory.h"

#include <algorithm>

#include "base/check.h"
#include "models/directory_files.h"

namespace heed::models {

nn::Context LoadedModel::context() const {
  return packed->context();
}

namespace {

[[noreturn]] void refuse(const LoadedModel& loaded) {
  switch (loaded.model->task()) {
    case Task::kTranslation:
      fail(ErrorKind::kUsage, "'{}' is a translation model ({}): use heed translate or heed attend",
           loaded.directory, loaded.model_type);
    case Task::kLanguageModel:
      fail(ErrorKind::kUsage, "'{}' is a language model ({}): use heed generate, heed score or heed attend",
           loaded.directory, loaded.model_type);
    case Task::kClassification:
      fail(ErrorKind::kUsage, "'{}' is a classifier ({}): use heed classify or heed attend", loaded.directory,
           loaded.model_type);
    case Task::kMaskedLanguageModel:
      fail(ErrorKind::kUsage, "'{}' is a masked language model ({}): use heed fill", loaded.directory,
           loaded.model_type);
  }
  HEED_CHECK(false);
}

template <typename Kind>
const Kind& as(const LoadedModel& loaded) {
  const auto* model = dynamic_cast<const Kind*>(loaded.model.get());
  if (model == nullptr) refuse(loaded);
  return *model;
}

}  // namespace

const Seq2Seq& LoadedModel::seq2seq() const {
  return as<Seq2Seq>(*this);
}
const LanguageModel& LoadedModel::language_model() const {
  return as<LanguageModel>(*this);
}
const Classifier& LoadedModel::classifier() const {
  return as<Classifier>(*this);
}

Task task_of(const std::string& directory) {
  return architecture_of(read_config(directory)).task;
}

namespace {

std::shared_ptr<const Shortlist> read_shortlist(const LoadedModel& loaded, std::optional<bool> wanted) {
  const auto* model = dynamic_cast<const Seq2Seq*>(loaded.model.get());
  const bool there = model != nullptr && Shortlist::is_in(loaded.directory);
  if (wanted == true && !there) {
    fail(ErrorKind::kUsage, "'{}' has no shortlist: create one with heed shortlist", loaded.directory);
  }
  if (!there || !wanted.value_or(loaded.precision == Precision::kInt8)) return nullptr;
  return std::make_shared<Shortlist>(Shortlist::read(loaded.directory, model->vocabulary_size()));
}

}  // namespace

LoadedModel load_model(const std::string& directory, const LoadOptions& options) {
  LoadedModel loaded;
  loaded.directory = directory;
  const JsonObject config = read_config(directory);
  loaded.model_type = config.string("model_type");
  loaded.model = architecture_of(config).read(config);
  const bool stored_quantized = is_quantized(config);
  const nn::ParameterTable& table = loaded.model->table();
  loaded.precision = options.precision.value_or(stored_quantized ? Precision::kInt8 : Precision::kFloat32);
  require_weights(directory, table, stored_quantized);
  loaded.values = nn::ParameterArray::unset(table);
  if (stored_quantized || loaded.precision == Precision::kInt8) {
    loaded.quantized = std::make_unique<nn::QuantizedParameters>(table);
  }
  if (stored_quantized) {
    read_quantized_weights(directory, table, loaded.values, *loaded.quantized);
  } else {
    read_weights(directory, table, loaded.values, loaded.quantized.get());
  }
  if (loaded.precision == Precision::kFloat32 && loaded.quantized != nullptr) {
    for (int row = 0; row < table.size(); ++row) loaded.quantized->fill({row, 1}, loaded.values);
    loaded.quantized.reset();
  }
  const auto* model = dynamic_cast<const AutoregressiveModel*>(loaded.model.get());
  loaded.packed = std::make_unique<nn::PackedWeights>(table, loaded.values, loaded.quantized.get());
  loaded.shortlist = read_shortlist(loaded, options.shortlist);
  loaded.shortlist_in_beams = options.shortlist.value_or(false);
  loaded.generation = read_generation_defaults(directory, config, loaded.model->task());
  if (model != nullptr && model->max_length() > 0 && loaded.generation.max_length) {
    loaded.generation.max_length = std::min(*loaded.generation.max_length, model->max_length());
  }
  return loaded;
}

}  // namespace heed::models
