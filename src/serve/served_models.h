// The models that the server holds in memory.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "models/config/precision_names.h"
#include "search/shared_search.h"
#include "tasks/model_files.h"
#include "translate/language_steps.h"
#include "translate/translation_settings.h"

namespace heed::serve {

struct ModelSource {
  std::string name;  ///< in requests
  ModelInventory files = {};
  bool bundled = false;  ///< whether commands find it by its name, as `--pair`, wherever they are started
  /// Whether requests may ask for another precision than one that the model is loaded with by choice.
  bool in_all_precisions = false;
};

/// The name of a model without another one: the last folder of its path.
std::string name_of_directory(const std::string& path);

/// A language as /languages and requests name it, such as "de", and as the model does, such as "deu_Latn".
struct ServedLanguage {
  std::string tag, code;
};

/// The language in a list that a tag or code names; null if there is none.
const ServedLanguage* find_language(const std::vector<ServedLanguage>& languages, const std::string& name);

/// The tag of one of a model's languages by its code in the model's files, which may not say the only one.
std::string tag_of(const std::vector<ServedLanguage>& languages, const std::string& code);

/// Codes of a model.
struct LanguagePair {
  std::string source = {}, target = {};
};

struct ServedModel {
  std::string name, directory;
  std::string stamps;              ///< of its files when it was read, see in_precision()
  bool bundled = false;            ///< see ModelSource
  models::LoadOptions load = {};   ///< with which it was read
  bool in_all_precisions = false;  ///< see ModelSource
  models::Task task = models::Task::kTranslation;
  int64_t loaded_at = 0;  ///< seconds since 1970
  /// The languages that a translation model reads and writes; empty if unknown. Of a model with several, a
  /// request chooses one.
  std::vector<ServedLanguage> sources = {}, targets = {};

  // Exactly one is set, according to the task.
  std::unique_ptr<tasks::TranslationModel> translation = {};
  std::unique_ptr<tasks::LanguageModelFiles> language_model = {};
  std::unique_ptr<tasks::EncoderModel> encoder = {};

  /// Translation models: the model's settings, with precomputed tables.
  translate::TranslatorOptions translator_options = {};

  const models::LoadedModel& loaded() const;
  /// "float32", "int8", "int4" or "bfloat16"
  std::string precision() const { return models::name_of(loaded().precision); }
  /// "de-en"; empty for a model with unknown languages or several.
  std::string pair() const;
  /// These languages, named by tags or codes, if the model translates between them.
  std::optional<LanguagePair> languages(const std::string& source_language,
                                        const std::string& target_language) const;
  /// The same for "de-en".
  std::optional<LanguagePair> languages(const std::string& pair) const;
};

/// One of the models through which a text passes.
struct ServedStep {
  const ServedModel* model = nullptr;
  LanguagePair languages = {};
};

class ServedModels {
 public:
  /// Loads all models. Throws the errors of loading, and kUsage for duplicate names, those that are not
  /// UTF-8, or an unsupported task.
  ServedModels(const std::vector<ModelSource>& sources, const models::LoadOptions& options);
  /// Loads another model; the same errors. Not while another thread uses this.
  const ServedModel& add(const ModelSource& source, const models::LoadOptions& options);

  const std::vector<std::unique_ptr<ServedModel>>& all() const { return models_; }
  /// The precisions that requests may ask for: that of the model itself first, then the others that run on
  /// this processor; only the first one if it was loaded with one by choice.
  std::vector<std::string> precisions(const ServedModel& model) const;
  /// The same model in another of these precisions, which is read at the first request for it. Thread-safe.
  /// Throws what reading it throws, and kFile if its files have changed since the model was read.
  const ServedModel& in_precision(const ServedModel& model, const std::string& precision) const;

  /// Null if there is none.
  const ServedModel* named(const std::string& name) const;
  /// The first model that translates between two languages, null if there is none; others for the same pair
  /// must be requested by name.
  const ServedModel* between(const std::string& source, const std::string& target) const;
  /// The same for "de-en".
  const ServedModel* for_pair(const std::string& pair) const;
  /// The fewest models through which a text passes from one language to another, in order, where no single
  /// one translates between them; empty if there is none.
  std::vector<ServedStep> chain(const std::string& source, const std::string& target) const;
  /// The same for "de-es".
  std::vector<ServedStep> chain(const std::string& pair) const;
  struct Chain {
    std::string source, target;        ///< tags
    std::vector<std::string> through;  ///< the tags between
  };
  /// All pairs of languages between which only chains translate.
  const std::vector<Chain>& chains() const { return chains_; }
  /// Whether a model can do a task. Every encoder gives embeddings.
  static bool can_do(const ServedModel& model, models::Task task) {
    return model.task == task || (task == models::Task::kEmbedding && model.encoder != nullptr);
  }
  /// The first model for a task, else the first that can do it; null if there is none.
  const ServedModel* first(models::Task task) const;

  struct Language {
    std::string code, name;  ///< the tag
    std::vector<std::string> targets;
  };
  /// The language pairs of all translation models, and those to which chains of them lead; sorted by code.
  const std::vector<Language>& languages() const { return languages_; }
  /// Whether some model reads or writes a language, named by its tag or a model's code.
  bool has_language(const std::string& name) const;
  /// Tags of the source languages, for `target` or, if it is empty, for any target.
  std::vector<std::string> sources(const std::string& target = "") const;

 private:
  void list_languages();

  std::vector<std::unique_ptr<ServedModel>> models_;
  std::vector<Language> languages_;
  std::vector<Chain> chains_;
  translate::LanguageSteps steps_;  // `model` is an index of models_
  mutable std::mutex mutex_;        // guards the following
  mutable std::map<std::pair<const ServedModel*, std::string>, std::unique_ptr<ServedModel>>
      in_other_precision_;
};

}  // namespace heed::serve
