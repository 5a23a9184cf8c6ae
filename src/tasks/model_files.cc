#include "tasks/model_files.h"

#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "models/source_vocabulary.h"
#include "tasks/text_classifier.h"
#include "text/tokenizers/language_tokenizer.h"
#include "translate/translation_settings.h"

namespace heed::tasks {

namespace {

/// A language that generation_config.json forces takes precedence over that of tokenizer_config.json.
void set_target_language(TranslationModel& model) {
  if (!model.tokenizer.target_begins_with_language()) return;
  int32_t& forced = model.loaded.generation.forced_begin_id;
  for (const std::string& language : model.tokenizer.languages()) {
    if (forced < 0 || !model.tokenizer.is_language(language, forced)) continue;
    model.tokenizer = model.tokenizer.with_languages("", language);
  }
  if (forced < 0) forced = model.tokenizer.first_target_id().value_or(-1);
}

}  // namespace

TranslationModel translation_model(models::LoadedModel loaded) {
  loaded.seq2seq();  // throws for another task, before its tokenizer files are missed
  const ModelInventory files = loaded.files;
  TranslationModel model{std::move(loaded), TranslationTokenizer::load(files)};
  const auto require_size = [&](const Vocabulary& vocabulary, int64_t size, const char* file,
                                const char* key) {
    if (static_cast<int64_t>(vocabulary.size()) == size) return;
    fail(ErrorKind::kFormat,
         "'{0}': {1} has {2} pieces, but {3} in config.json is {4}: use the {1} of this model",
         files.directory(), file, vocabulary.size(), key, size);
  };
  const models::Seq2Seq& seq2seq = model.loaded.seq2seq();
  require_size(model.tokenizer.source_vocabulary(), models::source_vocabulary_size(seq2seq),
               model_file::kVocabularyJson, "vocab_size");
  require_size(
      model.tokenizer.vocabulary(), seq2seq.vocabulary_size(),
      model.tokenizer.has_two_vocabularies() ? model_file::kTargetVocabulary : model_file::kVocabularyJson,
      "decoder_vocab_size");
  set_target_language(model);
  return model;
}

void choose_languages(TranslationModel& model, const std::string& source, const std::string& target) {
  model.tokenizer = model.tokenizer.with_languages(source, target);
  if (target.empty() || !model.tokenizer.target_begins_with_language()) return;
  model.loaded.generation.forced_begin_id = *model.tokenizer.first_target_id();
}

std::vector<translate::ChainStep> chain_steps(const std::vector<TranslationModel>& models,
                                              const TranslateOptions& choices) {
  std::vector<translate::ChainStep> steps;
  for (size_t n = 0; n < models.size(); ++n) {
    const TranslateOptions own = translate::choices_of_step(choices, n, models.size());
    steps.push_back(
        {models[n].loaded, models[n].tokenizer, translate::translator_options(models[n].loaded, own)});
  }
  return steps;
}

LanguageModelFiles with_tokenizer(models::LoadedModel loaded) {
  const int64_t words = loaded.language_model().vocabulary_size();  // throws for a model of another task
  ModelTokenizer tokenizer;
  if (has_language_tokenizer(loaded.files)) {
    tokenizer = load_language_tokenizer(loaded.files);
  } else {
    log_warning("'{}' contains no supported tokenizer: texts are token ids separated by spaces",
                loaded.directory());
    tokenizer = id_tokenizer(static_cast<int32_t>(words), loaded.language_model().start_id());
  }
  if (tokenizer.size() > words) {
    fail(ErrorKind::kFormat,
         "'{}': the tokenizer has {} tokens, but vocab_size in config.json is {}: use the tokenizer of this "
         "model",
         loaded.directory(), tokenizer.size(), words);
  }
  return {std::move(loaded), std::move(tokenizer)};
}

EncoderModel encoder_model(models::LoadedModel loaded) {
  const int64_t vocabulary = loaded.encoder().vocabulary_size();
  ModelTokenizer tokenizer = load_encoder_tokenizer(loaded.files);
  require_vocabulary(tokenizer, vocabulary, loaded.files);
  return {std::move(loaded), std::move(tokenizer)};
}

EncoderModel classifier_model(models::LoadedModel loaded) {
  loaded.classifier();  // throws for another task
  return encoder_model(std::move(loaded));
}

}  // namespace heed::tasks
