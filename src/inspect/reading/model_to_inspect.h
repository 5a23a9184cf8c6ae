// A loaded model of any task with its tokenizer, for looking into.
#pragma once

#include <variant>

#include "heed/translator.h"
#include "inspect/reading/reading.h"
#include "tasks/model_files.h"

namespace heed {

class ModelToInspect {
 public:
  /// Adds the tokenizer. `languages`: of a translation model that has a token for each. Throws the errors of
  /// tasks/model_files.h, and kUsage for languages of another model.
  explicit ModelToInspect(models::LoadedModel loaded, const Languages& languages = {});
  /// Refers to this object.
  InspectedModel view() const;

 private:
  std::variant<tasks::TranslationModel, tasks::LanguageModelFiles, tasks::EncoderModel> files_;
};

}  // namespace heed
