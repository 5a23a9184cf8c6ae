// The models that the server holds in memory.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "decode/model_files.h"
#include "decode/shared_search.h"
#include "decode/translation_settings.h"

namespace heed::serve {

struct ModelSource {
  std::string name;  ///< in requests
  std::string directory;
};

struct ServedModel {
  std::string name, directory;
  models::LoadOptions load = {};  ///< with which it was read
  models::Task task = models::Task::kTranslation;
  int64_t loaded_at = 0;       ///< seconds since 1970
  std::string source, target;  ///< language codes of a translation model; empty if unknown

  // Exactly one is set, according to the task.
  std::unique_ptr<decode::TranslationModel> translation = {};
  std::unique_ptr<decode::LanguageModelFiles> language_model = {};
  std::unique_ptr<decode::EncoderModel> classifier = {};

  bool lowercase = false;  ///< whether a translation model knows no capital letters
  /// Translation models: the model's settings, with precomputed tables.
  decode::TranslatorOptions translator_options = {};

  const models::LoadedModel& loaded() const;
  /// "float32" or "int8"
  std::string precision() const {
    return loaded().precision == models::Precision::kInt8 ? "int8" : "float32";
  }
  std::string pair() const { return source.empty() ? "" : source + "-" + target; }
};

class ServedModels {
 public:
  /// Loads all models. Throws the errors of loading, and kUsage for duplicate names or an unsupported task.
  ServedModels(const std::vector<ModelSource>& sources, const models::LoadOptions& options);

  const std::vector<std::unique_ptr<ServedModel>>& all() const { return models_; }
  /// The precisions that requests may ask for: "float32" and "int8", that of the model itself first; only
  /// this one if the server was started with a precision.
  std::vector<std::string> precisions(const ServedModel& model) const;
  /// The same model in another of these precisions, which is read at the first request for it. Thread-safe.
  /// Throws what reading it throws.
  const ServedModel& in_precision(const ServedModel& model, const std::string& precision) const;

  /// Null if there is none.
  const ServedModel* named(const std::string& name) const;
  /// The first model for the pair; others for the same pair must be requested by name.
  const ServedModel* for_pair(const std::string& source, const std::string& target) const;
  /// The first model for a task, null if there is none.
  const ServedModel* first(models::Task task) const;

  struct Language {
    std::string code, name;
    std::vector<std::string> targets;
  };
  /// The language pairs of all translation models, sorted by code.
  std::vector<Language> languages() const;
  /// The source languages, for `target` or, if it is empty, for any target.
  std::vector<std::string> sources(const std::string& target = "") const;

 private:
  std::vector<std::unique_ptr<ServedModel>> models_;
  mutable std::mutex mutex_;  // guards the following
  mutable std::map<const ServedModel*, std::unique_ptr<ServedModel>> in_other_precision_;
};

}  // namespace heed::serve
