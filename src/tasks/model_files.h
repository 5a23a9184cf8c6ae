// A model with its tokenizer, loaded from a model directory, by task.
#pragma once

#include <string>
#include <vector>

#include "models/directory/loaded_model.h"
#include "text/tokenizers/encoder_tokenizer.h"
#include "text/tokenizers/language_tokenizer.h"
#include "text/tokenizers/translation_tokenizer.h"
#include "translate/translator_chain.h"

namespace heed::tasks {

struct TranslationModel {
  models::LoadedModel loaded;
  TranslationTokenizer tokenizer;
};
/// Adds the tokenizer to a loaded translation model. Throws kUsage for another kind of model, kFormat if the
/// vocabulary sizes differ, and the errors of TranslationTokenizer::load().
TranslationModel translation_model(models::LoadedModel loaded);

/// Chooses the languages of a model whose source or target has a token for its language; empty: as before.
/// Throws kUsage for another model or an unknown language.
void choose_languages(TranslationModel& model, const std::string& source, const std::string& target);

/// Models through which a text passes in order, for a TranslatorChain. They must outlive it. Throws the
/// errors of choices_of_step() and translator_options().
std::vector<translate::ChainStep> chain_steps(const std::vector<TranslationModel>& models,
                                              const TranslateOptions& choices);

struct LanguageModelFiles {
  models::LoadedModel loaded;
  ModelTokenizer tokenizer;
};
/// Adds the tokenizer to a loaded language model. Without one in the directory, logs a warning, and texts are
/// token ids. Throws kFormat if the tokenizer has more tokens than the model's vocabulary.
LanguageModelFiles with_tokenizer(models::LoadedModel loaded);

struct EncoderModel {
  models::LoadedModel loaded;
  ModelTokenizer tokenizer;
};
/// Adds the tokenizer to a loaded classifier, masked language model or encoder without a head. Throws kUsage
/// for another kind of model, kFormat if the tokenizer has more pieces than the model's vocabulary, and the
/// errors of load_encoder_tokenizer().
EncoderModel encoder_model(models::LoadedModel loaded);
/// The same for classifiers alone.
EncoderModel classifier_model(models::LoadedModel loaded);

}  // namespace heed::tasks
