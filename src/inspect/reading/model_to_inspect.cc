#include "inspect/reading/model_to_inspect.h"

#include <utility>

#include "base/check.h"
#include "translate/translation_settings.h"

namespace heed {
namespace {

using AnyFiles = std::variant<tasks::TranslationModel, tasks::LanguageModelFiles, tasks::EncoderModel>;

AnyFiles with_its_tokenizer(models::LoadedModel loaded) {
  switch (loaded.model->task()) {
    case models::Task::kTranslation:
      return tasks::translation_model(std::move(loaded));
    case models::Task::kLanguageModel:
      return tasks::with_tokenizer(std::move(loaded));
    case models::Task::kClassification:
    case models::Task::kMaskedLanguageModel:
    case models::Task::kEmbedding:
      return tasks::encoder_model(std::move(loaded));
  }
  HEED_CHECK(false);
}

}  // namespace

ModelToInspect::ModelToInspect(models::LoadedModel loaded, const Languages& languages)
    : files_(with_its_tokenizer(std::move(loaded))) {
  if (languages.source.empty() && languages.target.empty()) return;
  auto* const translation = std::get_if<tasks::TranslationModel>(&files_);
  if (translation == nullptr) {
    fail(ErrorKind::kUsage, "languages are for models that translate, and this is not one: leave them out");
  }
  tasks::choose_languages(*translation, languages.source, languages.target);
}

InspectedModel ModelToInspect::view() const {
  if (const auto* translation = std::get_if<tasks::TranslationModel>(&files_)) {
    return {.loaded = translation->loaded,
            .translation = &translation->tokenizer,
            .search = translate::default_translator_options(translation->loaded).search};
  }
  if (const auto* language = std::get_if<tasks::LanguageModelFiles>(&files_)) {
    return {.loaded = language->loaded, .tokenizer = &language->tokenizer};
  }
  const auto& encoder = std::get<tasks::EncoderModel>(files_);
  return {.loaded = encoder.loaded, .tokenizer = &encoder.tokenizer};
}

}  // namespace heed
